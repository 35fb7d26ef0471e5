"""Letters of dead jobs, forgotten when their job is retried or discarded."""

from tests.contract.stream_rig import Rig


def bury(rig: Rig, *jobs: int) -> None:
    """Give jobs up."""
    for delivery in rig.received(*jobs):
        rig.settling().dead_letter(delivery, "given up")


def test_forgetting_deletes_the_letters_of_these_jobs_alone(rig: Rig) -> None:
    bury(rig, 1, 2, 3)

    assert rig.letters.forget({1, 3}) == 2

    assert [job for job, _, _ in rig.dead()] == [2]


def test_forgetting_deletes_every_letter_of_a_job(rig: Rig) -> None:
    bury(rig, 1)
    bury(rig, 1)

    assert rig.letters.forget({1}) == 2

    assert rig.dead() == []


def test_forgetting_what_has_no_letter_changes_nothing(rig: Rig) -> None:
    bury(rig, 1)

    assert rig.letters.forget({9}) == 0
    assert rig.letters.forget(()) == 0

    assert len(rig.dead()) == 1
