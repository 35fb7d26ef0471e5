"""The list of proxies: what is understood, what is refused, and that no password is repeated."""

from datetime import timedelta

import pytest

from ppcfetch.errors import ConfigurationError
from ppcfetch.model.egress import EgressFacts, egress_names, finding_of_egresses, parse_proxies
from ppcfetch.model.health import Verdict
from ppcfetch.settings import load_settings

CANARY = "hunter2-hunter2"


def test_without_proxies_the_archive_is_asked_directly() -> None:
    assert egress_names(parse_proxies(" , ")) == ("direct",)
    assert load_settings().egresses == ("direct",)


def test_each_proxy_has_a_name_without_its_user_and_password() -> None:
    proxies = parse_proxies(
        f"http://me:{CANARY}@one.example:3128, socks5://two.example:1080/ https://[::1]:8443"
    )

    assert egress_names(proxies) == ("one.example:3128", "two.example:1080", "[::1]:8443")
    assert [proxy.is_socks for proxy in proxies] == [False, True, False]
    assert CANARY not in repr(proxies)


def test_proxies_that_differ_only_in_who_asks_have_names_of_their_own() -> None:
    names = egress_names(parse_proxies("http://a:x@gate.example:1,http://b:x@gate.example:1"))

    assert names == ("gate.example:1", "gate.example:1#2")


def test_signs_in_a_password_are_written_with_percent() -> None:
    (proxy,) = parse_proxies("http://me:p%40ss%2C%23%C3%A4@one.example:3128")

    assert proxy.credentials == (b"me", "p@ss,#ä".encode())


@pytest.mark.parametrize(
    "wrong",
    [
        f"me:{CANARY}@one.example:3128",
        f"ftp://me:{CANARY}@one.example:3128",
        f"http://me:{CANARY}@one.example",
        f"http://me:{CANARY}@one.example:0",
        f"http://me:{CANARY}@one.example:99999",
        f"http://me:{CANARY}#@one.example:3128",
        f"http://me:{CANARY}/x@one.example:3128",
        f"http://me:{CANARY}@[one.example:3128",
        f"http://me:{CANARY}@one.example:3128/path",
        f"http://me:{CANARY}@one.example:3128?{CANARY}",
        f"http://me:{CANARY}@one example:3128",
        f"http://:{CANARY}@one.example:3128",
        f"http://me:{CANARY}{'x' * 300}@one.example:3128",
        "http://one.example:1," * 101,
    ],
)
def test_a_list_that_cannot_be_used_is_refused_without_repeating_it(
    wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PPCFETCH_PROXIES", f"http://good.example:3128,{wrong}")

    with pytest.raises(ConfigurationError) as refused:
        load_settings()

    text = str(refused.value)
    assert "PPCFETCH_PROXIES: " in text
    assert ("number 2" in text) or ("102" in text)
    assert CANARY not in text


@pytest.mark.parametrize(
    ("wrong", "part"),
    [
        ("ftp://me:{}@one.example:3128", "its scheme"),
        ("me:{}@one.example:3128", "its scheme"),
        ("http://me:{}@one.example:port", r"its port \(1 to 65535\)"),
        ("http://me:{}@one.example", r"its port \(1 to 65535\)"),
        ("http://me:{}@one,", "its port"),
        ("http://me:{}@ö:3128", "its host"),
        ("http://me:{}@[one.example:3128", "its host"),
        ("http://me:{}@one.example:3128/path", "what stands behind its port"),
    ],
)
def test_the_part_that_is_wrong_is_named_and_not_repeated(wrong: str, part: str) -> None:
    with pytest.raises(ValueError, match=f"^number 1: {part}") as refused:
        parse_proxies(wrong.format(CANARY))

    assert CANARY not in str(refused.value)


def test_settings_never_show_the_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PPCFETCH_PROXIES", f"http://me:{CANARY}@one.example:3128")

    settings = load_settings()

    assert CANARY not in repr(settings) + str(settings.model_dump())
    assert settings.egresses == ("one.example:3128",)


def test_the_doctor_warns_of_a_way_out_that_rests_and_says_why() -> None:
    well = EgressFacts("one:1", timedelta(0), trying=False, rate=1, why="")
    resting = EgressFacts("two:2", timedelta(seconds=9), trying=False, rate=0.5, why="status 407")
    slowed = EgressFacts("three:3", timedelta(0), trying=False, rate=0.5, why="429")
    trying = EgressFacts("four:4", timedelta(0), trying=True, rate=1, why="refused")

    found = finding_of_egresses([well, resting, slowed, trying])

    assert found.verdict is Verdict.WARN
    assert found.found == (
        "two:2 is resting: status 407; three:3 is slowed: 429; four:4 is on trial: refused"
    )
    assert finding_of_egresses([well]).verdict is Verdict.GOOD
