"""What to say about settings: a name that nothing reads, a value that cannot be."""

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from ppcfetch.model.health import Finding, Verdict

LONGEST_NAME = 80
LONGEST_VALUE = 60
KINDS = {"integer": "a whole number", "number": "a number", "boolean": "true or false"}
BOUNDS = {
    "exclusiveMinimum": "above {:g}",
    "minimum": "at least {:g}",
    "maximum": "at most {:g}",
}


def unknown_names(given: Collection[str], known: Collection[str]) -> tuple[str, ...]:
    """Give a sentence for each given name that is not known, with the known one it is closest to.

    Not an error: another version of ours may know it.
    """
    names = sorted({name.upper() for name in given} - set(known))
    return tuple(f"unknown setting {_shown(name)}{_closest(name, known)}" for name in names)


def finding_of_settings(unknown: Sequence[str]) -> Finding:
    """Judge the names of what is set."""
    if not unknown:
        return Finding("settings", Verdict.GOOD, "nothing is set that this release does not know")
    return Finding("settings", Verdict.WARN, "; ".join(unknown), "correct or remove it")


def wrong_value(value: str, schema: Mapping[str, Any], name: str) -> str:
    """Say what is expected instead of a value, with an example; schema is JSON Schema's.

    Shape: what may hold a password is not repeated.
    """
    kinds = [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]
    kind = kinds[0] if kinds else schema
    bounds = [words.format(kind[key]) for key, words in BOUNDS.items() if key in kind]
    wanted = schema.get("description") or KINDS.get(str(kind.get("type")), "what is understood")
    expected = ", ".join([wanted, *bounds])
    example = schema.get("examples", [schema.get("default")])[0]
    such = "" if example is None else f", such as {name}={str(example).lower()}"
    digits = "" if value.isascii() else "; its digits must be 0 to 9"
    return f"{_value(value)} must be {expected}{such}{digits}"


def _value(value: str) -> str:
    if "@" in value or "://" in value:
        return "what is set"
    return repr(value if len(value) <= LONGEST_VALUE else f"{value[:LONGEST_VALUE]}…")


def _closest(name: str, known: Collection[str]) -> str:
    close = get_close_matches(name, known, n=1, cutoff=0.8)
    return f": did you mean {close[0]}?" if close else ": nothing reads it"


def _shown(name: str) -> str:
    return ascii(name[:LONGEST_NAME])[1:-1]
