"""Every second seed, held against the promises."""

from tests.simulation.promises import (
    ALL_SEEDS,
    summary,
    test_a_seed_always_tells_the_same_story,
    test_every_kind_of_fault_met_work_in_flight,
    test_most_of_what_was_asked_for_was_read_to_its_end,
    test_no_order_of_events_breaks_a_promise,
    test_sleepers_did_try_to_write,
    test_walks_were_split_topped_up_and_refreshed_and_held_against_the_archive,
)

SEEDS = ALL_SEEDS[1::2]

__all__ = [
    "summary",
    "test_a_seed_always_tells_the_same_story",
    "test_every_kind_of_fault_met_work_in_flight",
    "test_most_of_what_was_asked_for_was_read_to_its_end",
    "test_no_order_of_events_breaks_a_promise",
    "test_sleepers_did_try_to_write",
    "test_walks_were_split_topped_up_and_refreshed_and_held_against_the_archive",
]
