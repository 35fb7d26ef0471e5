"""The emulator's answers and failures, byte for byte on the wire."""

import gzip
import json
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from fixtures.emulator.server import EmulatorServer
from tests.archive_reading import query
from tests.contract.emulator import (
    FORM,
    SEARCH,
    behave,
    call,
    connected,
    exchange,
    form,
    raw_exchange,
    received,
    running_emulator,
    search,
)

_JSON = "application/json; charset=utf-8"
_HTML = "text/html; charset=utf-8"


@pytest.fixture(name="server", scope="module")
def _server() -> Iterator[EmulatorServer]:
    with running_emulator() as server:
        yield server


@pytest.fixture(autouse=True)
def _well_behaved(server: EmulatorServer) -> Iterator[None]:
    yield
    call(server, "DELETE", "/_emulator/behaviour")


def test_an_answer_is_json_with_its_length_and_packed_on_request(server: EmulatorServer) -> None:
    plain = search(server, "ads-50.example")
    packed = call(
        server,
        "POST",
        SEARCH,
        body=form(query("ads-50.example")),
        headers=FORM | {"Accept-Encoding": "gzip, deflate"},
    )

    assert (plain.status, plain.headers["Content-Type"]) == (200, _JSON)
    assert plain.body.startswith(b'{"1":[{"1":"AR')
    assert packed.headers["Content-Encoding"] == "gzip"
    assert len(packed.body) == int(packed.headers["Content-Length"]) < len(plain.body) / 3
    assert gzip.decompress(packed.body) == plain.body


def test_a_connection_serves_many_calls(server: EmulatorServer) -> None:
    connection = connected(server)

    answers = [
        exchange(connection, "POST", SEARCH, body=form(query("ads-3.example")), headers=FORM)
        for _ in range(5)
    ]

    assert len({answer.body for answer in answers}) == 1
    connection.close()


def test_several_clients_get_the_same_answers_at_once(server: EmulatorServer) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: search(server, "ads-300.example").body, range(40)))

    assert len(set(answers)) == 1


@pytest.mark.parametrize(
    "body",
    [
        "",
        "f.req=",
        "f.req={",
        "f.req=[]",
        "f.req=" + "[" * 5000,
        "x=1",
        form({"2": "100", "3": {"12": {"1": "a"}}, "7": {}}),
        form(query("a.example", f8="2840")),
        form(query("a.example", f8=["2840"])),
        form(query("a.example", f4="1")),
        form(query("a.example", f6=20261399, f7=20261131)),
        form(query("a.example", f12=["a"])),
        form(query("a.example", f13={"1": "AR1"})),
        form(query("a.example") | {"7": 1}),
        form(query("ads-5.example", cursor="nonsense")),
    ],
)
def test_values_of_the_wrong_type_are_a_bad_request(server: EmulatorServer, body: str) -> None:
    answer = call(server, "POST", SEARCH, body=body, headers=FORM)

    assert answer.status == 400
    said = answer.json()
    assert (said["5"], said["9"]) == (400, 3)
    assert "BadRequestException" in said["2"]


def test_another_content_type_is_refused_with_the_name_of_the_request(
    server: EmulatorServer,
) -> None:
    answer = call(
        server, "POST", SEARCH, body="{}", headers={"Content-Type": "application/json+protobuf"}
    )

    assert answer.status == 400
    assert "reporting.SearchCreativesRequest" in answer.json()["2"]


def test_unknown_calls_and_plain_gets_of_calls_are_missing(server: EmulatorServer) -> None:
    assert call(server, "POST", "/anji/_/rpc/No/Such", body="", headers=FORM).status == 404
    assert call(server, "GET", SEARCH).status == 404
    assert call(server, "GET", "/").status == 404


def test_a_body_without_or_with_too_large_a_length_is_refused(server: EmulatorServer) -> None:
    huge = call(server, "POST", SEARCH, headers={"Content-Length": "99999999"})
    chunked = call(server, "POST", SEARCH, headers={"Transfer-Encoding": "chunked"})

    assert (huge.status, chunked.status) == (413, 411)


@pytest.mark.parametrize(
    ("fault", "status", "kind", "told"),
    [
        ("json_429", 429, _JSON, b'{"5":429,"9":8}'),
        ("html_429", 429, _HTML, b"unusual traffic"),
        ("html_200", 200, _HTML, b"unusual traffic"),
        ("forbidden_403", 403, _HTML, b"Forbidden"),
        ("missing_404", 404, _HTML, b"Not Found"),
        ("unavailable_503", 503, _HTML, b"temporarily unavailable"),
        ("bad_request_400", 400, _JSON, b"BadRequestException"),
        ("empty_body", 200, _JSON, b""),
        ("empty_object", 200, _JSON, b"{}"),
        ("wrong_shape", 200, _JSON, b'"7":"yesterday"'),
        ("empty_page", 200, _JSON, b'{"2":"CgoAP7zn'),
        ("deep_json", 200, _JSON, b"[" * 100_000),
    ],
)
def test_each_refusal_has_its_status_type_and_text(
    server: EmulatorServer, *, fault: str, status: int, kind: str, told: bytes
) -> None:
    behave(server, fault=fault, retry_after=7)

    answer = search(server, "ads-50.example")

    assert (answer.status, answer.headers["Content-Type"]) == (status, kind)
    assert told in answer.body
    assert answer.headers.get("Retry-After") == ("7" if status in (429, 503) else None)
    assert len(answer.body) == int(answer.headers["Content-Length"])
    assert fault != "html_200" or 2500 < len(answer.body) < 4000


def test_the_captcha_wall_is_a_redirect_that_names_where_to_go_on(server: EmulatorServer) -> None:
    behave(server, fault="captcha_redirect")

    answer = search(server, "ads-50.example")

    assert answer.status == 302
    assert answer.headers["Location"].startswith(
        "https://www.google.com/sorry/index?continue=https%3A%2F%2Fadstransparency.google.com%2F"
    )
    assert b"302 Moved" in answer.body


def test_cut_json_has_the_right_length_and_does_not_end(server: EmulatorServer) -> None:
    whole = search(server, "ads-50.example").body
    behave(server, fault="truncated_json")

    answer = search(server, "ads-50.example")

    assert answer.status == 200
    assert int(answer.headers["Content-Length"]) == len(answer.body) == len(whole) // 2
    assert whole.startswith(answer.body)
    with pytest.raises(json.JSONDecodeError):
        answer.json()


def test_cut_gzip_has_the_length_it_says_and_misses_its_end(server: EmulatorServer) -> None:
    whole = search(server, "ads-50.example").body
    behave(server, fault="cut_gzip")

    with raw_exchange(server, "ads-50.example", "Accept-Encoding: gzip\r\n") as wire:
        head, _, body = received(wire).partition(b"\r\n\r\n")

    assert b"Content-Encoding: gzip" in head
    assert f"Content-Length: {len(body)}".encode() in head
    unpacker = zlib.decompressobj(31)
    assert whole.startswith(unpacker.decompress(body))
    assert not unpacker.eof


def test_a_reset_comes_in_the_middle_of_the_answer(server: EmulatorServer) -> None:
    behave(server, fault="reset")

    with raw_exchange(server, "ads-50.example") as wire, pytest.raises(ConnectionResetError):
        received(wire)


def test_a_slow_answer_drips_in_small_pieces_and_is_whole_at_last(server: EmulatorServer) -> None:
    whole = search(server, "ads-2.example").body
    behave(server, fault="slow_drip", drip_bytes=300, drip_ms=5)

    with raw_exchange(server, "ads-2.example") as wire:
        pieces = []
        while piece := wire.recv(65536):
            pieces.append(piece)

    assert len(pieces) > 2
    assert b"".join(pieces).endswith(whole)


def test_a_repeated_cursor_is_the_one_that_was_asked_with(server: EmulatorServer) -> None:
    first = search(server, "ads-500.example").json()
    behave(server, fault="repeat_cursor")

    second = search(server, "ads-500.example", cursor=first["2"]).json()

    assert second["2"] == first["2"]
    assert second["1"] != first["1"]


def test_a_repeated_page_is_the_first_one_again(server: EmulatorServer) -> None:
    first = search(server, "ads-500.example").json()
    behave(server, fault="repeat_page")

    assert search(server, "ads-500.example", cursor=first["2"]).json() == first


def test_a_reversed_page_has_the_same_rows_and_the_same_cursor(server: EmulatorServer) -> None:
    page = search(server, "ads-500.example").json()
    behave(server, fault="reversed_page")

    spoiled = search(server, "ads-500.example").json()

    assert spoiled == page | {"1": page["1"][::-1]}


def test_a_huge_answer_is_larger_than_any_reader_should_take(server: EmulatorServer) -> None:
    behave(server, fault="huge_json")

    answer = search(server, "ads-5.example")

    assert len(answer.body) > 60_000_000
    assert answer.json() == {"1": []}


def test_faults_can_be_for_previews_only(server: EmulatorServer) -> None:
    behave(server, fault="unavailable_503", call="simgad")
    page = search(server, "ads-50.example").json()

    image = next(row["3"]["3"]["2"] for row in page["1"] if "3" in row.get("3", {}))
    path = image.split('"')[1].removeprefix("https://tpc.googlesyndication.com")
    assert call(server, "GET", path).status == 503
    call(server, "DELETE", "/_emulator/behaviour")
    picture = call(server, "GET", path)
    assert (picture.status, picture.headers["Content-Type"]) == (200, "image/png")
    assert call(server, "HEAD", path).body == b""
