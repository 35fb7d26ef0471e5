"""Laws of domain names that hold for any text, and their form for people."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ppcfetch.errors import InvalidDomain
from ppcfetch.model.domain import DomainName

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no failure."""

ANY_TEXT = st.text(st.characters(categories=None), max_size=1100)
WORDS = ["http", "https", "://", "com", "co.uk", "github.io", "example", "xn--", "0x7f", "::"]
SIGNS = list(":/\\@.。[]?#ab1ßéςא\u0627例-% \u200d\u202e\u00ad\u0130")
WIDE = {code: code + 0xFEE0 for code in range(ord("!"), ord("~") + 1)}
"""Letters that only the long way of reading knows: it turns them into plain ones."""
NEARLY = st.lists(st.sampled_from(WORDS + SIGNS), max_size=14).map("".join)


@UNHURRIED
@given(ANY_TEXT | NEARLY | st.from_regex(r"\A(https?://)?([\w-]{1,12}\.){1,3}\w{2,9}\Z"))
@example("\u0660.\u0627")
@example("https:////////")
def test_any_text_gives_a_domain_that_parses_to_itself_or_a_sentence(text: str) -> None:
    try:
        domain = DomainName.parse(text)
    except InvalidDomain as refused:
        sentence = str(refused)
        assert sentence.isprintable()
        assert sentence[-1] in ".?"
        assert len(sentence) < 200
        return

    assert DomainName.parse(str(domain)) == domain
    assert str(domain).isascii()
    assert domain.unicode


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("example.com", "example.com"),
        ("xn--bcher-kva.example", "bücher.example"),
        ("xn--r8jz45g.xn--zckzah", "例え.テスト"),
        ("xn--e1afmkfd.com", "\u043f\u0440\u0438\u043c\u0435\u0440.com"),
        ("xn--80ak6aa92e.com", "xn--80ak6aa92e.com"),  # Cyrillic that looks like "apple"
        ("xn--pypal-4ve.com", "xn--pypal-4ve.com"),  # one Cyrillic letter among Latin ones
        ("xn--xample-2of.com", "xn--xample-2of.com"),
        ("xn--zzzz.com", "xn--zzzz.com"),  # kept from before a rule changed: shown as it is
    ],
)
def test_the_form_for_people_is_never_one_that_could_deceive(name: str, shown: str) -> None:
    domain = DomainName(name)

    assert domain.unicode == shown


@UNHURRIED
@given(st.from_regex(r"\A([a-zA-Z0-9-]{1,6}\.){1,3}[a-zA-Z0-9-]{2,5}\Z"))
@example("ab--c.com")
@example("xn--a.com")
@example(f"{'a' * 63}.com")
@example(f"{'a' * 64}.com")
@example(".".join(["a" * 49] * 5 + ["com"]))
@example(".".join(["a" * 49] * 5 + ["info"]))
def test_a_plain_name_is_read_as_the_same_name_in_wide_letters(name: str) -> None:
    assert meant(name) == meant(name.translate(WIDE))


def meant(text: str) -> str:
    """Give the domain, or nothing where the text is refused."""
    try:
        return DomainName.parse(text).name
    except InvalidDomain:
        return ""
