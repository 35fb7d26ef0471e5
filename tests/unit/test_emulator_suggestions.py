"""Suggestions come as the archive gives them: advertisers, then domains, shortest first."""

import base64
import struct

from fixtures.emulator.requests import SuggestRequest
from tests.archive_reading import Json, archive, decoded


def _suggest(text: str, advertisers: int = 40, domains: int = 40) -> Json:
    return decoded(archive().suggest(SuggestRequest(text, advertisers, domains)))


def test_both_groups_are_sorted_by_length_and_advertisers_come_first() -> None:
    items = _suggest("o")["1"]

    kinds = [next(iter(item)) for item in items]
    names = [item["1"]["1"] for item in items if "1" in item]
    domains = [item["2"]["1"] for item in items if "2" in item]
    assert kinds == ["1"] * len(names) + ["2"] * len(domains)
    assert [len(name) for name in names] == sorted(len(name) for name in names)
    assert [len(domain) for domain in domains] == sorted(len(domain) for domain in domains)
    assert len(names) > 5
    assert len(domains) > 5


def test_an_advertiser_has_id_country_and_mostly_a_rounded_count() -> None:
    accounts = [item["1"] for item in _suggest("a")["1"] if "1" in item]

    for account in accounts:
        assert account["2"].startswith("AR")
        assert len(account["3"]) == 2
        if "4" in account:
            assert int(account["4"]["2"]["1"]) <= int(account["4"]["2"]["2"])
    assert {"4" in account for account in accounts} == {True, False}


def test_a_list_cut_by_a_limit_ends_in_a_token_of_the_last_items_length() -> None:
    whole, cut = _suggest("blue"), _suggest("blue", 1, 1)

    assert "3" not in whole
    assert len(cut["1"]) == 2
    raw = base64.b64decode(cut["3"])
    last = len(cut["1"][-1]["2"]["1"])
    assert raw[2:12] == b"\xff\xc0" + struct.pack(">d", last)


def test_a_numbered_domain_is_suggested_with_its_advertisers() -> None:
    items = _suggest("ads-2350")["1"]

    assert items[-1] == {"2": {"1": "ads-2350.example"}}
    assert len(items) == 11


def test_nothing_found_is_the_empty_object() -> None:
    assert _suggest("zzzzzz") == {}
    assert _suggest("") == {}
