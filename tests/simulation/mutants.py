"""One-line sabotages of shipped source, each with the clause that it takes out and its catcher.

`sabotage.py` tries them. Those of Python that change what becomes of work are caught by simulated
seeds; what SQL and Lua say is not simulated, so the contract suites catch it.
"""

from dataclasses import dataclass

from tests.simulation import (
    mutants_of_pace,
    mutants_of_servers,
    mutants_of_turns,
    mutants_of_walks,
)

SIMULATION = "simulation"
LEASES = "tests/unit/test_leases.py"
INTAKE = "tests/unit/test_intake.py"
RUN_JOB = "tests/unit/test_run_job.py"
OUTCOMES = "tests/unit/test_outcomes.py"
START_HERE = "tests/unit/test_start_here.py"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A sabotage.

    Shape: clause is what the line did for the protocol; old stands in the file exactly once;
    caught_by is SIMULATION, or the tests that must fail.
    """

    clause: str
    file: str
    old: str
    new: str
    caught_by: str

    def applied_to(self, text: str) -> str:
        """Give the file's text with the sabotage."""
        return text.replace(self.old, self.new)


def _mutants(*rows: tuple[str, str, str, str, str]) -> tuple[Mutant, ...]:
    return tuple(Mutant(*row) for row in rows)


OF_PYTHON = _mutants(
    # ---- receive, take_lease
    (
        "what was read is accepted directly before take_lease",
        "workers/leasing.py",
        "accepted = self._deliveries.accept(self._readable(deliveries))",
        "accepted = self._readable(deliveries)",
        INTAKE,
    ),
    (
        "history is walked once, by id",
        "workers/intake.py",
        "self._history_after = found[-1].token.message_id if found else None",
        'self._history_after = "0" if found else None',
        INTAKE,
    ),
    (
        "what a lost answer left pending is reconciled",
        "workers/intake.py",
        "or self._forgotten(free)",
        "or ()",
        SIMULATION,
    ),
    (
        "take_lease asks again with the same request id",
        "workers/leasing.py",
        "return self._jobs.take(takings, ",
        "return self._jobs.take([Taking(t.job_id, uuid.uuid4().hex) for t in takings], ",
        SIMULATION,
    ),
    (
        "the second message of a job in hand is adopted",
        "workers/leasing.py",
        "mine.delivery = delivery",
        "pass",
        LEASES,
    ),
    # ---- reclaim
    (
        "reclaim looks for the abandoned at all",
        "workers/intake.py",
        "or self._abandoned(free)",
        "or ()",
        SIMULATION,
    ),
    (
        "the row vetoes a claim",
        "workers/intake.py",
        "vetoed = self._jobs.vetoed([d.job_id for d in found if d.job_id is not None])",
        "vetoed = frozenset[int]()",
        INTAKE,
    ),
    (
        "the look goes on behind vetoed entries, to the end of the list",
        "workers/intake.py",
        "while len(claimed) < free and (found := self._deliveries.abandoned(after, LOOK)):",
        "if len(claimed) < free and (found := self._deliveries.abandoned(after, LOOK)):",
        INTAKE,
    ),
    (
        "at most as many are claimed as slots are free",
        "workers/intake.py",
        "wanted = [d for d in found if d.job_id not in vetoed][: free - len(claimed)]",
        "wanted = [d for d in found if d.job_id not in vetoed]",
        INTAKE,
    ),
    # ---- renew
    (
        "renew beats in the row",
        "workers/heartbeat.py",
        "        self._beat(alive)\n",
        "        pass\n",
        SIMULATION,
    ),
    (
        "the delivery is renewed",
        "workers/heartbeat.py",
        "            self._renew(alive)\n",
        "            pass\n",
        INTAKE,
    ),
    (
        "losing the delivery stops no handler",
        "workers/heartbeat.py",
        "self._settling.renew([one.delivery.token for one in alive])",
        "[o.lose('gone') for o in alive if not self._settling.renew([o.delivery.token])]",
        SIMULATION,
    ),
    (
        "what a beat does not return is lost, and its handler told",
        "workers/heartbeat.py",
        'one.lose(f"job {one.lease.job.id} was leased again or cancelled")',
        "pass",
        LEASES,
    ),
    (
        "no answer to a beat is unknown, not lost",
        "workers/heartbeat.py",
        '            structlog.get_logger().warning("beat.unknown", error=str(silent))\n',
        "            [one.lose(str(silent)) for one in alive]\n",
        LEASES,
    ),
    (
        "without an accepted beat the handler stops at the local deadline",
        "workers/held.py",
        "if silence > self._limits.local_deadline.total_seconds():",
        "if silence < 0:",
        RUN_JOB,
    ),
    (
        "no beat for a handler without progress",
        "workers/held.py",
        "return self._now() - self._progressed > self._limits.stall.total_seconds()",
        "return False",
        SIMULATION,
    ),
    (
        "a handler that ignores being told ends the process",
        "workers/heartbeat.py",
        "            leave(EXIT_STUCK)",
        "            pass",
        SIMULATION,
    ),
    (
        "a process whose name is borne by another leaves",
        "workers/heartbeat.py",
        "            self._name.keep()",
        "            pass",
        LEASES,
    ),
    # ---- write, hand back
    (
        "a page without an answer is written again",
        "ppcfetch/usecases/run_job.py",
        "            clock.sleep(delay)",
        "            raise",
        RUN_JOB,
    ),
    (
        "a page sets attempts to 0",
        "ppcfetch/model/job.py",
        "pages=self.pages + 1, starts=0, attempts=0)",
        "pages=self.pages + 1, starts=0)",
        f"{RUN_JOB} tests/contract/test_jobs_settle.py",
    ),
    (
        "a page sets starts to 0",
        "ppcfetch/model/job.py",
        "pages=self.pages + 1, starts=0, attempts=0)",
        "pages=self.pages + 1, attempts=0)",
        SIMULATION,
    ),
    (
        "on SIGTERM the starts are given back first",
        "workers/heartbeat.py",
        "        if stopping and self._gives_back:\n",
        "        if False:\n",
        LEASES,
    ),
    (
        "a job that is handed back goes round again",
        "ppcfetch/usecases/settle.py",
        "moved.setdefault(end.delivery.pool, []).append(end.delivery)",
        "settled.append(end.delivery)",
        LEASES,
    ),
    (
        "a worker that is asked to stop hands back",
        "workers/consumer.py",
        "if self.stopping.is_set() or self.paused.is_set():",
        "if False:",
        LEASES,
    ),
    (
        "a worker of a paused pool hands back",
        "workers/consumer.py",
        "if self.stopping.is_set() or self.paused.is_set():",
        "if self.stopping.is_set():",
        "tests/unit/test_gate.py",
    ),
    # ---- settle, the outcome table
    (
        "the outcome is in the row before the delivery is settled",
        "ppcfetch/usecases/settle.py",
        "    told = [e for e in ended if e.row_ended or e.lease.job.id in ours]",
        "    told = list(ended)",
        "tests/unit/test_settling.py",
    ),
    (
        "an outcome whose answer was lost is written again",
        "workers/slots.py",
        "left = self._still_ours(left, str(silent))",
        "left = []",
        "tests/unit/test_settling.py",
    ),
    (
        "refused as settled: the delivery is settled",
        "ppcfetch/model/outcome.py",
        "Refusal.SETTLED: Answer.SETTLE,",
        "Refusal.SETTLED: Answer.LEAVE,",
        SIMULATION,
    ),
    (
        "refused as held: the delivery is left",
        "ppcfetch/model/outcome.py",
        "Refusal.HELD: Answer.LEAVE,",
        "Refusal.HELD: Answer.SETTLE,",
        f"{INTAKE}",
    ),
    (
        "a row of another pool: its message is moved there",
        "ppcfetch/model/outcome.py",
        "Refusal.OTHER_POOL: Answer.MOVE,",
        "Refusal.OTHER_POOL: Answer.LEAVE,",
        SIMULATION,
    ),
    (
        "starts used up: the delivery becomes a dead letter",
        "ppcfetch/model/outcome.py",
        "Refusal.EXHAUSTED: Answer.DEAD_LETTER,",
        "Refusal.EXHAUSTED: Answer.LEAVE,",
        "tests/unit/test_settling.py",
    ),
    (
        "a throttled archive uses up no attempt",
        "ppcfetch/model/outcome.py",
        "return Rest(_wait(job, jitter, error.retry_after), _text(error))",
        "return RetryLater(_wait(job, jitter, error.retry_after), _text(error))",
        RUN_JOB,
    ),
    (
        "attempts are bounded",
        "ppcfetch/model/outcome.py",
        "if job.attempts + 1 >= max_attempts:",
        "if job.attempts + 1 >= 2:",
        SIMULATION,
    ),
    (
        "an open breaker rests the job",
        "ppcfetch/usecases/ask_archive.py",
        "            if rest is None:",
        "            if True:",
        RUN_JOB,
    ),
    (
        "nobody asks the archive without the pace's leave",
        "ppcfetch/usecases/ask_archive.py",
        "while not isinstance(leave := pace.ask(run.lease.job.pool), Permit):",
        "while not isinstance(leave := Permit('direct'), Permit):",
        SIMULATION,
    ),
    (
        "the interactive budget spills",
        "workers/consumer.py",
        "return self.budget.is_used_up(pages=held.pages, spent=spent)",
        "return False",
        START_HERE,
    ),
    # ---- request, sweep, data loss
    (
        "the row is stored first, then Redis is asked",
        "ppcfetch/usecases/request_refresh.py",
        "    asked = fetches.request(request)",
        "    doorbell.publish([]); asked = fetches.request(request)",
        SIMULATION,
    ),
    (
        "a silent doorbell loses no request",
        "ppcfetch/usecases/request_refresh.py",
        "    except StreamUnavailable as silent:",
        "    except ZeroDivisionError as silent:",
        SIMULATION,
    ),
    (
        "the sweeper publishes what should ring",
        "ppcfetch/usecases/sweep.py",
        "published=_ring(due, doorbell),",
        "published=0,",
        SIMULATION,
    ),
    (
        "the sweeper deletes entries that nobody will ever get",
        "ppcfetch/usecases/sweep.py",
        "orphans=census.delete_orphans(),",
        "orphans=0,",
        SIMULATION,
    ),
    (
        "the sweeper closes a fetch without active jobs",
        "ppcfetch/usecases/sweep.py",
        "closed=due.close_idle_fetches(),",
        "closed=0,",
        "tests/unit/test_sweep.py",
    ),
    (
        "one process sweeps at a time",
        "ppcfetch/usecases/sweep.py",
        "    if not due.take_turn(holder, turn):",
        "    if due.take_turn(holder, turn) is None:",
        "tests/unit/test_sweep.py",
    ),
    (
        "a different epoch rebuilds at once",
        "ppcfetch/usecases/sweep.py",
        "    if census.epoch() == epoch:",
        "    if True:",
        f"{START_HERE} tests/unit/test_sweep.py",
    ),
    (
        "everything is published before Redis bears the epoch again",
        "ppcfetch/usecases/sweep.py",
        "    census.ensure_groups()",
        "    census.ensure_groups(); census.restore(epoch)",
        "tests/unit/test_sweep.py",
    ),
    (
        "no process invents an epoch",
        "ppcfetch/usecases/sweep.py",
        "    census.restore(epoch)\n",
        "    census.restore(str(id(census)))\n",
        "tests/unit/test_sweep.py",
    ),
)

ALL = OF_PYTHON + _mutants(
    *mutants_of_servers.ROWS,
    *mutants_of_turns.ROWS,
    *mutants_of_pace.ROWS,
    *mutants_of_walks.ROWS,
)
