"""The form in which addresses are kept."""

import pytest

from ppcfetch.adapters.database.users import normal_email
from ppcfetch.errors import Refused


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("ada@example.com", "ada@example.com"),
        ("  Ada.Lovelace+ads@Example.CO.UK\n", "ada.lovelace+ads@example.co.uk"),
        ("ada@bücher.example", "ada@bücher.example"),
    ],
)
def test_an_address_is_kept_in_lower_case_without_blanks(written: str, kept: str) -> None:
    assert normal_email(written) == kept


@pytest.mark.parametrize(
    "written",
    [
        "",
        "ada",
        "ada@",
        "@example.com",
        "ada@example",
        "ada@@example.com",
        "ada@example..com",
        "ada@.example.com",
        "ada lovelace@example.com",
        "ada\0@example.com",
        "ada@example.com\nbcc: bob@example.com",
        "a" * 250 + "@example.com",
        "a@" + "b." * 500_000,
    ],
)
def test_what_is_no_address_is_refused(written: str) -> None:
    with pytest.raises(Refused, match="not an e-mail address"):
        normal_email(written)
