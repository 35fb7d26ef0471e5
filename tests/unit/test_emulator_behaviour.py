"""The emulator's behaviour is read strictly and applied exactly as often as it says."""

import math
from typing import Any

import pytest

from fixtures.emulator.behaviour import FAULTS, BadBehaviour, Behaviour, Director, parse


class _Clock:
    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


def _faults(director: Director, calls: int, domain: str = "a.example") -> list[str | None]:
    return [director.decide("SearchCreatives", domain).fault for _ in range(calls)]


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_can_be_asked_for(fault: str) -> None:
    assert parse({"fault": fault}).fault == fault


def test_keys_left_out_have_their_defaults() -> None:
    assert parse({}) == Behaviour()
    assert parse({"latency_ms": 5, "domain": "A.Example "}) == Behaviour(
        latency_ms=5, domain="a.example"
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "send one JSON object"),
        ({"latencyms": 1}, "unknown key 'latencyms'"),
        ({"latency_ms": "1"}, "latency_ms must be a whole number"),
        ({"latency_ms": True}, "latency_ms must be a whole number"),
        ({"latency_ms": -1}, "latency_ms must be a whole number"),
        ({"latency_ms": None}, "latency_ms cannot be null"),
        ({"fault": "explode"}, "fault must be one of captcha_redirect"),
        ({"fault": ["reset"]}, "fault must be one of captcha_redirect"),
        ({"fault": "reset", "for_calls": 0}, "for_calls must be a whole number from 1"),
        ({"fault": "reset", "for_seconds": 0}, "for_seconds must be a number of seconds"),
        ({"fault": "reset", "for_seconds": math.inf}, "for_seconds must be a number of seconds"),
        ({"fault": "reset", "for_seconds": "3"}, "for_seconds must be a number of seconds"),
        ({"for_calls": 3}, "need a fault"),
        ({"domain": " "}, "domain must be a domain name"),
        ({"domain": 3}, "domain must be a domain name"),
        ({"date_window": "seen"}, "date_window must be one of shown, last_shown"),
        ({"call": "GetStats"}, "call must be one of SearchCreatives"),
        ({"expired_previews": 1}, "expired_previews must be true or false"),
        ({"churn_per_page": 1.5}, "churn_per_page must be a whole number"),
        ({"drip_bytes": 0}, "drip_bytes must be a whole number from 1"),
    ],
)
def test_a_wrong_behaviour_is_refused_with_a_sentence_that_names_it(value: Any, said: str) -> None:
    with pytest.raises(BadBehaviour) as refusal:
        parse(value)

    assert said in str(refusal.value)


def test_a_fault_starts_after_good_calls_and_ends_after_faulty_ones() -> None:
    director = Director(_Clock())
    director.put(Behaviour(fault="reset", after_calls=2, for_calls=3))

    assert _faults(director, 7) == [None, None, "reset", "reset", "reset", None, None]


def test_a_fault_without_an_end_goes_on() -> None:
    director = Director(_Clock())
    director.put(Behaviour(fault="reset"))

    assert _faults(director, 100) == ["reset"] * 100


def test_a_fault_for_seconds_ends_by_the_clock_from_its_first_strike() -> None:
    clock = _Clock()
    director = Director(clock)
    director.put(Behaviour(fault="reset", after_calls=1, for_seconds=10))

    assert _faults(director, 1) == [None]
    clock.now += 100
    assert _faults(director, 1) == ["reset"]
    clock.now += 9.9
    assert _faults(director, 1) == ["reset"]
    clock.now += 0.1
    assert _faults(director, 1) == [None]


def test_a_domain_limits_fault_latency_and_churn_and_other_calls_do_not_count() -> None:
    director = Director(_Clock())
    director.put(
        Behaviour(fault="reset", after_calls=1, domain="a.example", latency_ms=9, churn_per_page=4)
    )

    other = director.decide("SearchCreatives", "b.example")
    assert (other.fault, other.latency_ms, other.churn) == (None, 0, 0)
    assert _faults(director, 2) == [None, "reset"]
    assert director.decide("SearchCreatives", "a.example").latency_ms == 9
    assert director.decide("SearchCreatives", "a.example").churn == 4


def test_without_a_call_only_archive_calls_are_touched_and_with_one_only_that() -> None:
    director = Director(_Clock())
    director.put(Behaviour(fault="reset"))
    assert director.decide("simgad", "a.example").fault is None
    assert director.decide("GetCreativeById", "a.example").fault == "reset"

    director.put(Behaviour(fault="reset", call="simgad"))
    assert director.decide("simgad", "a.example").fault == "reset"
    assert director.decide("SearchCreatives", "a.example").fault is None


def test_a_format_limits_a_fault_to_searches_of_that_format() -> None:
    director = Director(_Clock())
    director.put(Behaviour(fault="reset", format=3))

    assert director.decide("SearchCreatives", "a.example").fault is None
    assert director.decide("SearchCreatives", "a.example", 1).fault is None
    assert director.decide("SearchCreatives", "a.example", 3).fault == "reset"


def test_a_new_behaviour_counts_from_none() -> None:
    director = Director(_Clock())
    director.put(Behaviour(fault="reset", after_calls=2))
    _faults(director, 5)

    director.put(Behaviour(fault="reset", after_calls=2))

    assert director.shown()["counted_calls"] == 0
    assert _faults(director, 3) == [None, None, "reset"]
