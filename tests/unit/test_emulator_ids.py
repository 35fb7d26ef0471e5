"""Ids and cursors of the emulator have the archive's form and lead back to what they stand for."""

import base64
import re
from datetime import UTC, datetime

import pytest

from fixtures.emulator.cursor import Position, decode, encode
from fixtures.emulator.ids import id_high, id_text, key_of, shuffle, unshuffle

# Quoted in a public bug report of 10 July 2023.
_PUBLIC_CURSOR = "CgoAP7zn/42TJjHHEhA61AJshH+nzstEgjsAAAAAGgn8+NdY+B5FumE="


def test_an_id_is_a_prefix_and_twenty_digits_of_a_number_ending_in_thirty_two_bits_of_one() -> None:
    for high in (0, 1, 77, 2**31, 2**32 - 1):
        text = id_text("CR", high)

        assert re.fullmatch(r"CR\d{20}", text)
        assert int(text[2:]) & 0xFFFFFFFF == 1
        assert id_high(text, "CR") == high


@pytest.mark.parametrize(
    "text",
    ["", "CR1", "AR00000000000000000001", "CR00000000000000000002", "CR99999999999999999999"],
)
def test_what_is_no_id_of_the_kind_has_no_number(text: str) -> None:
    assert id_high(text, "CR") is None


def test_a_shuffle_can_be_undone_and_never_gives_two_numbers_one_place() -> None:
    key = key_of("seed", 3)
    numbers = [*range(5000), *range(2**32 - 5000, 2**32)]

    places = [shuffle(key, number) for number in numbers]

    assert len(set(places)) == len(numbers)
    assert all(0 <= place < 2**32 for place in places)
    assert [unshuffle(key, place) for place in places] == numbers


def test_a_cursor_of_the_real_archive_is_read_to_its_microsecond() -> None:
    place = decode(_PUBLIC_CURSOR)

    assert place is not None
    instant = datetime.fromtimestamp(-place.older // 1_000_000, UTC)
    assert instant == datetime(2023, 7, 10, 7, 5, 23, tzinfo=UTC)


def test_a_cursor_is_three_byte_fields_of_the_known_lengths() -> None:
    place = Position(-1_795_996_797_114_332, 0x0102030405060708090A0B0C)

    raw = base64.b64decode(encode(place))

    assert raw[:2] == b"\x0a\x0a"
    assert int.from_bytes(raw[2:12], "big") == 0x3FBCFFFFFFFFFFFFFF - 4 * 1_795_996_797_114_332
    assert raw[12:14] == b"\x12\x10"
    assert raw[14:30] == bytes(range(1, 13)) + bytes(4)
    assert raw[30] == 0x1A
    assert raw[31] in (8, 9)
    assert raw[32:34] == b"\xfc\xf8"
    assert len(raw) == 32 + raw[31]
    assert decode(encode(place)) == place


@pytest.mark.parametrize(
    "text", ["?", "AAAA", "CgoAP7zn", _PUBLIC_CURSOR[:-8], "EgEB", "CgEBEgEBGgEB", "ä"]
)
def test_a_damaged_cursor_is_no_place(text: str) -> None:
    assert decode(text) is None
