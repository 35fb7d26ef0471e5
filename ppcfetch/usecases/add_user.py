"""Make an account."""

from ppcfetch.model.account import User
from ppcfetch.ports import NewUsers, PasswordRules


def add_user(
    email: str, password: str, *, operator: bool, users: NewUsers, passwords: PasswordRules
) -> User:
    """Give the new account's user. Raises: Refused when address or password will not do."""
    passwords.check(password)
    return users.add(email, passwords.hash(password), operator=operator)
