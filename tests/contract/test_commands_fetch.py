"""`ppcfetch fetch` on real servers: what it asks for, and what it says when nothing will run."""

from ppcfetch.model.job import Pool
from ppcfetch.model.operation import Action, Deed
from tests.contract.commands_rig import Commands

SHOP = "shop.example"


def read_to_its_end(commands: Commands) -> None:
    """Have the shop read a moment ago."""
    commands.database.write(commands.database.lease(commands.database.queued(SHOP)), last=True)


def test_a_fresh_domain_is_left_alone_and_that_is_no_failure(commands: Commands) -> None:
    read_to_its_end(commands)

    plain = commands.run("fetch", SHOP, "--if-stale")
    waited = commands.run("fetch", SHOP, "--if-stale", "--wait")
    told = commands.json("fetch", SHOP, "--if-stale")

    assert (plain.exit_code, waited.exit_code) == (0, 0)
    assert "shop.example is fresh: it was read to its end" in plain.stdout
    assert "is fresh" in waited.stdout
    assert (told["fetch"], told["joined"]) == (None, False)
    assert "is fresh" in told["reason"]
    assert len(commands.json("jobs")) == 1


def test_a_fresh_domain_is_read_again_when_nothing_is_said_about_its_age(
    commands: Commands,
) -> None:
    read_to_its_end(commands)

    asked = commands.json("fetch", SHOP)

    assert asked["fetch"]
    assert len(commands.json("jobs")) == 2


def test_a_stale_domain_is_read_when_only_stale_ones_are_wanted(commands: Commands) -> None:
    result = commands.run("fetch", SHOP, "--if-stale")

    assert result.exit_code == 0
    assert "was requested" in result.stdout
    assert "ppcfetch explain " in result.stdout
    assert result.stderr == ""


def test_a_paused_pool_is_told_beside_the_answer(commands: Commands) -> None:
    commands.database.pauses.pause(Pool.INTERACTIVE, Deed("ann", Action.PAUSE, "a look"))
    commands.database.pauses.pause(Pool.BULK, Deed("bob", Action.PAUSE))

    first, joined = commands.run("fetch", SHOP), commands.run("fetch", SHOP, "--json")

    assert (first.exit_code, joined.exit_code) == (0, 0)
    for result in (first, joined):
        assert "The pool interactive is paused since" in result.stderr
        assert "by ann: a look; it waits for: ppcfetch resume interactive" in result.stderr
        assert "bob" not in result.stderr
    assert "was requested" in first.stdout
