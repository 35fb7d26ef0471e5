"""How a replay of an incident waits: as long as it takes, and never in vain without advice."""

import subprocess
import sys

import pytest

from ppcfetch.cli.incidents.patience import wait
from ppcfetch.errors import PpcFetchError


def test_what_holds_is_not_waited_for() -> None:
    wait(lambda: True, "it holds", seconds=0)


def test_waiting_in_vain_says_what_is_left_and_what_to_do() -> None:
    with pytest.raises(PpcFetchError) as vain:
        wait(lambda: False, "all have ended", seconds=0, left=lambda: "3 of 15 jobs are open")

    text = str(vain.value)
    assert "until all have ended (3 of 15 jobs are open)" in text
    assert "ppcfetch incident deploys" in text
    assert "--lease-seconds 5" in text


def test_a_program_that_ends_before_is_not_waited_for_any_longer() -> None:
    with subprocess.Popen([sys.executable, "-c", "raise SystemExit(7)"]) as child:
        child.wait()

        with pytest.raises(PpcFetchError, match="ended with code 7 before it worked"):
            wait(lambda: False, "it worked", seconds=600, child=child)
