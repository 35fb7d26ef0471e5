"""Whether a name may be shown in its own script without passing for another name."""

import unicodedata

_COMMON = frozenset({"DIGIT", "HYPHEN-MINUS", "MIDDLE", "COMBINING"})

_WRITING = {
    "CJK": "EAST",
    "IDEOGRAPHIC": "EAST",
    "HIRAGANA": "EAST",
    "KATAKANA": "EAST",
    "KATAKANA-HIRAGANA": "EAST",
}
"""Scripts that one language mixes; the key is the first word of a character's Unicode name."""

_LIKE_LATIN = frozenset(
    # Cyrillic, then Greek, then Armenian letters that most fonts draw as Latin ones.
    "\u0430\u0431\u0432\u0433\u0435\u043a\u043c\u043d\u043e\u043f\u0440\u0441\u0442\u0443\u0445"
    "\u044a\u044c\u0455\u0456\u0458\u0461\u0475\u04bb\u04bd\u04cf\u0501\u051b\u051d"
    "\u03b1\u03b3\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7"
    "\u0561\u0563\u0566\u0570\u0578\u057d\u0581\u0585"
)


def is_honest(label: str) -> bool:
    """Tell whether a label is of one script and cannot pass for a Latin one.

    Shape: digits, hyphens and combining marks belong to every script; the Japanese ones count
    as one, as does a label without letters.
    """
    scripts = {_script(char) for char in label} - _COMMON
    return len(scripts) <= 1 and not _passes_for_latin(label)


def _script(char: str) -> str:
    word = unicodedata.name(char, "UNNAMED").split(" ", 1)[0]
    return _WRITING.get(word, word)


def _passes_for_latin(label: str) -> bool:
    letters = {char for char in label if char.isalpha()}
    return bool(letters) and letters <= _LIKE_LATIN
