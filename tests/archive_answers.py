"""Answers of the archive in the shape of recorded ones, over invented companies."""

import json
from datetime import UTC, datetime
from typing import Any

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)

ADVERTISER = "AR01234567890123456789"
SCRIPT = "https://displayads-formats.googleusercontent.com/ads/preview/content.js?client=x&sig=y"
PICTURE = "https://tpc.googlesyndication.com/archive/simgad/7623090292697106908"
IMG = f'<img src="{PICTURE}" height="209" width="348">'

Json = dict[str, Any]


def creative(number: int) -> str:
    """Give a well-formed id."""
    return f"CR{number:020}"


def seconds(moment: datetime) -> str:
    """Give a time as the archive writes it."""
    return str(int(moment.timestamp()))


def row(number: int = 1, **changes: Any) -> Json:
    """Give a whole row; ``k12="x"`` sets key 12 and ``k12=None`` leaves it out."""
    whole: Json = {
        "1": ADVERTISER,
        "2": creative(number),
        "3": {"3": {"2": IMG}, "5": True},
        "4": 1,
        "6": {"1": "1780391316", "2": 63081000},
        "7": {"1": str(1790000000 - number), "2": 839899000},
        "12": "Bluebird Shoes Ltd",
        "13": 31,
        "14": "bluebird.example",
    }
    whole |= {key.removeprefix("k"): value for key, value in changes.items()}
    return {key: value for key, value in whole.items() if value is not None}


def answer(*rows: Any, **changes: Any) -> Json:
    """Give a last page of these rows; changes as in `row`."""
    whole: Json = {"1": list(rows), "4": str(len(rows)), "5": str(len(rows))}
    whole |= {key.removeprefix("k"): value for key, value in changes.items()}
    return {key: value for key, value in whole.items() if value is not None}


def written(value: Any) -> bytes:
    """Write an answer as the archive does: compact, with what HTML might misread escaped."""
    text = json.dumps(value, separators=(",", ":"))
    for char in "=&<>":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text.encode()
