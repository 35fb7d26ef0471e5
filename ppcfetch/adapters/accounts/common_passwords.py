"""Passwords that are long enough and known to everybody.

Source: the shapes at the top of every published list of leaked passwords that has entries of
twelve characters and more: words and rows of keys, repeated or counted on.
"""

import re

_WORDS = (
    "abc",
    "abcd",
    "abcdef",
    "admin",
    "administrator",
    "asdf",
    "asdfgh",
    "asdfghjkl",
    "changeme",
    "correcthorsebatterystaple",
    "default",
    "dragon",
    "football",
    "guest",
    "iloveyou",
    "letmein",
    "login",
    "master",
    "monkey",
    "mypassword",
    "passphrase",
    "password",
    "passwort",
    "ppcfetch",
    "princess",
    "qwer",
    "qwert",
    "qwerty",
    "qwertyui",
    "qwertyuiop",
    "qwertz",
    "qwertzuiop",
    "secret",
    "sunshine",
    "superman",
    "test",
    "testing",
    "trustno",
    "user",
    "welcome",
    "whatever",
    "yourpassword",
    "zaqwsx",
    "zxcv",
    "zxcvbn",
    "zxcvbnm",
    "qaz",
    "wsx",
    "edc",
    "rfv",
    "one",
    "two",
    "three",
    "four",
    "the",
    "my",
    "is",
    "this",
    "pass",
    "word",
)
_LOOKALIKES = str.maketrans("@4301$5!7", "aaeoissit")
_ONLY_KNOWN_WORDS = re.compile(rf"(?:{'|'.join(sorted(set(_WORDS), key=len, reverse=True))})+")
_ENDS = re.compile(r"^[\W\d_]+|[\W\d_]+$")
_FEWEST_DIFFERENT = 5
_ROWS = ("0123456789" * 3, "9876543210" * 3, "abcdefghijklmnopqrstuvwxyz" * 2)


def is_common(password: str) -> bool:
    """Tell whether a password is made of nothing but what everybody tries first.

    Shape: words of the list in any case and in look-alike signs, with any digits and signs
    around them; fewer than five different characters; the digits or the alphabet in order.
    """
    plain = password.casefold()
    if len(set(plain)) < _FEWEST_DIFFERENT:
        return True
    if any(plain in row for row in _ROWS):
        return True
    # What is counted on stands at the ends: 1 2 3 there are no look-alikes of letters.
    core = _ENDS.sub("", plain)
    return any(_is_known(each) for each in (plain, core.translate(_LOOKALIKES)))


def _is_known(text: str) -> bool:
    letters = "".join(char for char in text if char.isalpha())
    return not letters or _ONLY_KNOWN_WORDS.fullmatch(letters) is not None
