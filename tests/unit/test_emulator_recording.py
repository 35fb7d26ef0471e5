"""The recorded answers in the repository are what the emulator answers."""

from pathlib import Path

from fixtures.emulator.archive import Archive
from fixtures.emulator.recording import DAY, SEED, recorded

_ANSWERS = Path(__file__).parents[2] / "fixtures" / "answers"


def test_every_recorded_answer_is_what_the_emulator_says_today() -> None:
    made = dict(recorded(Archive(SEED, DAY)))

    kept = {path.name: path.read_bytes() for path in _ANSWERS.iterdir() if path.suffix != ".md"}
    assert kept == made
    assert len(kept) == 14


def test_every_recorded_answer_is_explained() -> None:
    explained = (_ANSWERS / "README.md").read_text(encoding="utf-8")

    assert all(path.name in explained for path in _ANSWERS.iterdir() if path.suffix != ".md")
