"""The emulator's control API: truth, counts, behaviour, churn; and its life as a process."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest

from fixtures.emulator.behaviour import FAULTS, Behaviour
from fixtures.emulator.server import EmulatorServer
from tests.archive_reading import Json, archive, fact, truth
from tests.contract.emulator import FORM, behave, call, exchange, form, running_emulator, search
from tests.waiting import wait_until

_ROOT = Path(__file__).parents[2]


@pytest.fixture(name="server")
def _server() -> Iterator[EmulatorServer]:
    with running_emulator() as server:
        yield server


def _truth(server: EmulatorServer, domain: str) -> list[Json]:
    answer = call(server, "GET", f"/_emulator/truth/{domain}")
    assert answer.status == 200
    return [json.loads(line) for line in answer.body.splitlines()]


def _walk(server: EmulatorServer, domain: str) -> list[Json]:
    rows: list[Json] = []
    page = search(server, domain).json()
    while True:
        rows += page.get("1", [])
        if "2" not in page:
            return rows
        page = search(server, domain, cursor=page["2"]).json()


def test_the_truth_is_one_line_an_ad_and_equals_a_walk(server: EmulatorServer) -> None:
    lines = _truth(server, "ads-1234.example")

    assert lines == [fact(row) for row in _walk(server, "ads-1234.example")]
    assert lines == truth(archive(), "ads-1234.example")
    assert _truth(server, "ads-0.example") == []
    assert call(server, "GET", "/_emulator/truth/nobody.example").status == 404


def test_churn_over_the_wire_is_in_the_truth_and_survives_a_reset_of_behaviour(
    server: EmulatorServer,
) -> None:
    behave(server, churn_per_page=5, churn_pages=2)
    missed = _walk(server, "ads-1234.example")
    call(server, "DELETE", "/_emulator/behaviour")

    lines = _truth(server, "ads-1234.example")

    assert lines != truth(archive(), "ads-1234.example")
    assert len(missed) == 1234 - 10
    assert lines == [fact(row) for row in _walk(server, "ads-1234.example")]
    call(server, "DELETE", "/_emulator/churn")
    assert _truth(server, "ads-1234.example") == truth(archive(), "ads-1234.example")


def test_ads_can_be_shown_again_by_hand(server: EmulatorServer) -> None:
    body = json.dumps({"domain": "ads-50.example", "ads": 4})

    assert call(server, "POST", "/_emulator/churn", body=body).status == 200

    before = truth(archive(), "ads-50.example")
    assert len([ad for ad in _truth(server, "ads-50.example") if ad not in before]) == 4
    for wrong in ({}, {"domain": "ads-5.example", "ads": -1}, {"domain": "x", "ads": 1}):
        answer = call(server, "POST", "/_emulator/churn", body=json.dumps(wrong))
        assert answer.status == 400


def test_requests_are_counted_by_call_and_domain_and_searches_listed(
    server: EmulatorServer,
) -> None:
    rows = _walk(server, "ads-250.example")
    behave(server, fault="json_429", for_calls=1)
    search(server, "ads-1.example")
    fields = {"1": rows[0]["1"], "2": rows[0]["2"], "5": {"1": 1}}
    lookup = "/anji/_/rpc/LookupService/GetCreativeById?authuser=0"
    call(server, "POST", lookup, body=form(fields), headers=FORM)

    noted = call(server, "GET", "/_emulator/requests").json()

    assert noted["by_call"] == {"GetCreativeById": 1, "SearchCreatives": 4}
    assert noted["by_domain"]["SearchCreatives"] == {"ads-1.example": 1, "ads-250.example": 3}
    assert noted["by_domain"]["GetCreativeById"] == {"ads-250.example": 1}
    assert noted["faults"] == {"json_429": 1}
    assert [entry["rows"] for entry in noted["searches"]] == [100, 100, 50, 0]
    assert [entry["outcome"] for entry in noted["searches"]] == ["ok", "ok", "ok", "json_429"]
    assert noted["searches"][0]["cursor"] is None
    assert len({entry["cursor"] for entry in noted["searches"][:3]}) == 3
    assert {entry["format"] for entry in noted["searches"]} == {None}
    one = call(server, "GET", "/_emulator/requests?domain=ads-1.example").json()
    assert one["total"] == len(one["searches"]) == 1
    call(server, "DELETE", "/_emulator/requests")
    assert call(server, "GET", "/_emulator/requests").json()["total"] == 0


def test_the_largest_number_in_flight_is_known(server: EmulatorServer) -> None:
    behave(server, latency_ms=60_000)
    threads = [
        Thread(target=lambda: _quietly(server, "ads-1.example"), daemon=True) for _ in range(3)
    ]
    for thread in threads:
        thread.start()

    wait_until(
        lambda: call(server, "GET", "/_emulator/requests").json()["max_in_flight"] == 3,
        describe="three calls are in flight",
    )
    server.calls.stopping.set()
    for thread in threads:
        thread.join()


def _quietly(server: EmulatorServer, domain: str) -> None:
    try:
        search(server, domain)
    except OSError:
        return


def test_behaviour_is_shown_set_and_reset(server: EmulatorServer) -> None:
    assert behave(server, fault="reset", after_calls=5, date_window="last_shown").status == 200

    shown = call(server, "GET", "/_emulator/behaviour").json()
    assert (shown["fault"], shown["after_calls"]) == ("reset", 5)
    assert (shown["date_window"], shown["counted_calls"]) == ("last_shown", 0)
    assert call(server, "DELETE", "/_emulator/behaviour").json()["fault"] is None


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("PUT", "/_emulator/behaviour", "{", 400),
        ("PUT", "/_emulator/behaviour", '{"unheard_of":1}', 400),
        ("PUT", "/_emulator/behaviour", '{"latency_ms":NaN}', 400),
        ("POST", "/_emulator/behaviour", "{}", 405),
        ("PUT", "/_emulator/churn", "{}", 405),
        ("GET", "/_emulator/nothing", None, 404),
        ("PUT", "/_emulator/healthz", "", 404),
    ],
)
def test_wrong_control_requests_are_refused_in_words_and_change_nothing(
    server: EmulatorServer, *, method: str, path: str, body: str | None, status: int
) -> None:
    before = call(server, "GET", "/_emulator/behaviour").json()

    answer = call(server, method, path, body=body)

    assert answer.status == status
    assert len(answer.json()["error"]) > 10
    assert call(server, "GET", "/_emulator/behaviour").json() == before


def test_the_domains_are_listed_with_what_is_special_about_them(server: EmulatorServer) -> None:
    listed = call(server, "GET", "/_emulator/domains").json()

    assert len(listed) >= 11
    for entry in listed[:-1]:
        page = search(server, entry["domain"]).json()
        assert int(page.get("4", 0)) <= entry["ads"] <= int(page.get("5", 0))
        assert entry["about"]


def test_every_behaviour_and_fault_is_explained() -> None:
    explained = (_ROOT / "fixtures" / "README.md").read_text(encoding="utf-8")

    words = [field.name for field in fields(Behaviour)] + list(FAULTS)
    assert [word for word in words if f"`{word}`" not in explained] == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_as_a_process_it_says_where_it_listens_and_stops_cleanly(number: int) -> None:
    command = [sys.executable, "-m", "fixtures.emulator", "--port", "0", "--seed", "3"]
    with subprocess.Popen(
        command, cwd=_ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        assert ready["event"] == "emulator.ready"
        connection = http.client.HTTPConnection(urlsplit(ready["url"]).netloc, timeout=10)
        assert exchange(connection, "GET", "/_emulator/healthz").json() == {"status": "ok"}
        connection.close()
        os.kill(process.pid, number)
        assert process.communicate(timeout=20) == ("", "")
        assert process.returncode == 0


def test_a_taken_port_is_told_in_one_sentence(server: EmulatorServer) -> None:
    command = [sys.executable, "-m", "fixtures.emulator", "--port", str(server.server_port)]

    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1:{server.server_port}" in done.stderr
    assert done.stdout == ""
