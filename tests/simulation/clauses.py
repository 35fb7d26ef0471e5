"""Which tests hold which clause of the lease protocol.

A clause is named by what happens without it. `tests/unit/test_clauses.py` looks whether the tests
are there; `mutants.py` takes clauses out and shows that they fail. The seeds of this folder try
all clauses together.
"""

LEASES = "tests/unit/test_leases.py"
INTAKE = "tests/unit/test_intake.py"
TRACES = "tests/unit/test_traces.py"
RUN_JOB = "tests/unit/test_run_job.py"
SWEEP = "tests/unit/test_sweep.py"
TAKE = "tests/contract/test_jobs_take.py"
BEAT = "tests/contract/test_jobs_beat.py"
SETTLED = "tests/contract/test_jobs_settle.py"
RACES = "tests/contract/test_jobs_races.py"
PAGES = "tests/contract/test_page_write.py"
ENDS = "tests/contract/test_fetches_end.py"
CLAIM = "tests/contract/test_stream_claim.py"
RECEIVE = "tests/contract/test_stream_receive.py"
SETTLE = "tests/contract/test_stream_settle.py"
PUBLISH = "tests/contract/test_stream_publish.py"
ENGINE = "tests/contract/test_database_engine.py"
SWEEPING = "tests/contract/test_due_sweeping.py"
CENSUS = "tests/contract/test_stream_census.py"

CLAUSES: dict[str, tuple[str, ...]] = {
    "publish: live means pending or behind last-delivered-id": (
        f"{PUBLISH}::test_an_entry_that_lost_its_consumer_is_replaced_since_nobody_will_ever_get_it",
        f"{TRACES}::test_a_message_in_nobodys_hand_is_replaced",
    ),
    "publish: safe to repeat": (f"{PUBLISH}::test_a_job_rings_once_however_often_it_is_published",),
    "receive: the lock's value is the incarnation": (
        "tests/contract/test_names.py::test_a_name_bears_the_incarnation_of_its_process",
    ),
    "receive: history once, by id, as slots are free": (
        f"{CLAIM}::test_a_restart_walks_its_history_once_by_id_as_slots_are_free",
        f"{INTAKE}::test_history_is_walked_once_though_what_it_gave_is_still_in_hand",
    ),
    "receive: scripts look at the name lock first": (
        f"{CLAIM}::test_a_process_whose_name_is_borne_by_another_claims_nothing",
    ),
    "receive: what was read is accepted by one script directly before take_lease": (
        f"{RECEIVE}::test_accepting_leaves_what_another_has_claimed_meanwhile",
        f"{RECEIVE}::test_accepting_under_a_name_that_another_bears_is_refused",
        f"{INTAKE}::test_what_a_sleeper_had_read_is_left_to_who_has_claimed_it_meanwhile",
        f"{TRACES}::test_two_processes_do_not_rob_each_other_round_and_round",
    ),
    "receive: a process whose name is held by another exits": (
        f"{LEASES}::test_a_process_whose_name_is_borne_by_another_leaves",
    ),
    "receive: the group is made at 0, remade, never destroyed": (
        f"{RECEIVE}::test_a_lost_group_is_made_again_at_the_beginning",
        f"{CENSUS}::test_making_groups_again_destroys_nothing",
    ),
    "take_lease: of this pool only": (
        f"{TAKE}::test_a_job_of_another_pool_is_refused_with_the_pool_that_it_is_in",
        f"{LEASES}::test_a_job_of_another_pool_is_moved_there",
    ),
    "take_lease: an older incarnation of this name is succeeded": (
        f"{TAKE}::test_a_later_incarnation_of_the_name_takes_over_at_once",
        f"{TAKE}::test_the_same_and_an_older_incarnation_of_the_name_do_not",
    ),
    "take_lease: running without a beat for a lease": (
        f"{TAKE}::test_a_running_job_without_a_beat_for_a_lease_is_free",
        f"{TAKE}::test_a_beat_keeps_the_job_for_another_lease",
    ),
    "take_lease: the same request id gives the same lease and counts nothing": (
        f"{TAKE}::test_asking_again_with_the_same_request_gives_the_same_lease_and_counts_nothing",
        f"{LEASES}::test_an_unanswered_take_is_asked_again_and_counts_once",
    ),
    "take_lease: starts used up, the same update makes the row dead": (
        f"{TAKE}::test_a_job_whose_starts_are_used_up_dies_in_the_taking",
        f"{LEASES}::test_a_poison_job_is_dead_after_its_starts_and_holds_nobody_up",
    ),
    "take_lease: outcomes that fall together are settled together": (
        f"{SETTLED}::test_outcomes_that_fall_together_are_written_together",
    ),
    "renew: first the database": (
        f"{LEASES}::test_redis_being_away_does_not_keep_rows_from_beating",
        f"{LEASES}::test_an_unknown_answer_to_a_beat_is_not_a_loss",
        f"{RUN_JOB}::test_without_any_accepted_beat_the_handler_stops_at_the_local_deadline",
        f"{TRACES}::test_a_handler_that_is_told_hears_it_at_its_next_step",
    ),
    "renew: only with the token": (
        f"{SETTLE}::test_a_sleeper_that_renews_does_not_steal_back",
        f"{SETTLE}::test_thirty_renewals_leave_the_delivery_counter_and_so_the_token_alone",
    ),
    "renew: not mine or gone from Redis stops no handler": (
        f"{LEASES}::test_losing_the_delivery_stops_no_handler",
        f"{TRACES}::test_losing_the_stream_again_and_again_costs_no_start",
    ),
    "renew: no beat without progress for the stall limit": (
        f"{LEASES}::test_a_handler_without_progress_loses_its_lease_though_the_heart_beats",
    ),
    "renew: a handler that has not stopped a lease after being told ends the process": (
        f"{LEASES}::test_a_handler_that_ignores_being_told_is_noticed_a_lease_later",
    ),
    "reclaim: on to the end of the list, behind vetoed entries too": (
        f"{INTAKE}::test_an_abandoned_job_is_found_behind_any_number_of_vetoed_ones",
        f"{CLAIM}::test_the_look_goes_on_to_the_end_behind_entries_that_may_not_be_claimed",
    ),
    "reclaim: a row that is running and beaten vetoes": (
        f"{BEAT}::test_running_and_beaten_within_a_lease_is_vetoed_and_nothing_else",
        f"{INTAKE}::test_a_delivery_whose_row_is_beaten_is_not_claimed",
    ),
    "reclaim: of two rescuers one wins": (f"{CLAIM}::test_of_two_rescuers_one_wins",),
    "write: under the fence, or LeaseLost and rollback": (
        f"{PAGES}::test_a_stale_consumer_cannot_write_a_page",
        f"{LEASES}::test_a_sleeper_that_wakes_up_can_write_nothing",
    ),
    "write: attempts = 0": (
        f"{SETTLED}::test_a_stored_page_makes_attempts_begin_anew",
        f"{RUN_JOB}::test_attempts_are_used_up_only_without_progress",
    ),
    "write: no answer, keep the page and repeat": (
        f"{PAGES}::test_a_write_whose_answer_was_lost_stores_nothing_twice",
        f"{RUN_JOB}::test_a_write_without_an_answer_is_repeated_and_stores_nothing_twice",
        f"{RUN_JOB}::test_a_page_is_kept_while_the_database_is_away",
    ),
    "write: idle_in_transaction_session_timeout below a lease": (
        f"{ENGINE}::test_a_process_that_sleeps_inside_a_transaction_loses_it_before_its_lease",
    ),
    "end of a job: lock the fetch, then count as a new statement": (
        f"{RACES}::test_of_two_last_jobs_that_end_at_once_one_ends_the_fetch",
    ),
    "end of a job: everybody locks jobs first, the fetch last": (
        f"{RACES}::test_everybody_locks_in_one_order_so_nobody_waits_for_ever",
    ),
    "settle: guarded by the token": (
        f"{SETTLE}::test_a_sleeper_that_settles_leaves_the_claim_of_its_rescuer",
        f"{TRACES}::test_a_sleeper_does_not_settle_for_its_successor_of_the_same_name",
    ),
    "settle: drained is never judged by XLEN or lag": (
        f"{CENSUS}::test_counts_are_exact_after_deletions_and_trims",
        f"{CENSUS}::test_orphans_count_neither_as_waiting_nor_as_in_hand",
    ),
    "hand back: first give the starts back": (
        f"{LEASES}::test_a_kill_at_the_end_of_the_grace_time_costs_no_start",
        f"{LEASES}::test_being_stopped_costs_a_job_nothing",
    ),
    "cancel: state = cancelled, fence + 1": (
        f"{ENDS}::test_the_holder_of_a_cancelled_job_can_write_no_more",
        f"{TRACES}::test_a_cancelled_job_stores_nothing_more",
    ),
    "dead letter: XADD first, then the end of the delivery": (
        f"{SETTLE}::test_with_full_memory_a_dead_letter_is_refused_and_the_delivery_kept",
    ),
    "retry: the fetch reopened, or superseded": (
        f"{ENDS}::test_a_retried_job_begins_anew_at_its_checkpoint_and_reopens_its_fetch",
        f"{ENDS}::test_a_retry_is_refused_when_a_newer_fetch_is_active",
        f"{ENDS}::test_a_retry_is_refused_when_a_newer_fetch_has_read_the_domain",
    ),
    "reconcile: claimed by XCLAIM without JUSTID": (
        f"{CLAIM}::test_what_a_lost_answer_left_is_found_behind_a_lease_and_bears_a_new_token",
        f"{TRACES}::test_a_reconciled_delivery_bears_a_new_token",
    ),
    "forget a consumer: only one that holds nothing and whose name is free": (
        f"{CENSUS}::test_a_consumer_that_holds_a_delivery_is_kept_with_it",
        f"{CENSUS}::test_a_consumer_whose_name_is_borne_is_kept",
    ),
    "outcome: start given back, dead only by attempts": (
        f"{SETTLED}::test_a_reported_end_gives_its_start_back_and_no_other",
        f"{TRACES}::test_errors_are_given_up_by_attempts_and_not_by_starts",
    ),
    "outcome: a resting archive uses up no attempt": (
        f"{RUN_JOB}::test_a_blocked_archive_rests_the_job_and_counts_nothing",
    ),
    "sweeper: by a row with an expiry, not a lock of a session": (
        f"{SWEEPING}::test_a_sweeper_that_sleeps_loses_the_turn_by_the_database_clock",
        f"{SWEEP}::test_a_sweeper_that_sleeps_hands_its_turn_on",
    ),
    "data loss: no process invents a value, nothing is destroyed": (
        f"{SWEEP}::test_redis_bears_the_databases_epoch_behind_a_rebuild",
        f"{SWEEP}::test_redis_bears_no_epoch_before_everything_was_published",
    ),
}
