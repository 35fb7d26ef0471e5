"""Turn deliveries into leases: accept, take, and answer what got none."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from ppcfetch.errors import DatabaseUnavailable, StreamUnavailable
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Delivery, Lease, Limits, Refusal, Refused
from ppcfetch.ports import Taking, WorkerPorts
from ppcfetch.usecases.settle import answer
from workers.admitter import Admitter
from workers.held import Hand, Held

PATIENCE_WITH_UNKNOWN_VERSIONS = 20
"""Deliveries after which a message of a version that no worker knows is dead-lettered."""

REPEAT_SECONDS = 0.1


class Leasing:
    """From a read of the stream to leases in hand."""

    def __init__(
        self,
        parts: WorkerPorts,
        *,
        hand: Hand,
        pool: Pool,
        limits: Limits,
        admitter: Admitter,
    ) -> None:
        """Keep the ports of one consumer in one pool."""
        self._deliveries = parts.deliveries
        self._jobs = parts.jobs
        self._settling = parts.settling
        self._hand = hand
        self._holder = parts.holder
        self._pool = pool
        self._limits = limits
        self._clock = parts.clock
        self._admitter = admitter

    def lease(self, deliveries: Sequence[Delivery]) -> Sequence[Held]:
        """Lease what can be leased and put it in hand; answer the rest.

        Raises: NameLost, StreamUnavailable, DatabaseUnavailable. What was not answered stays
        pending under our name and is found again.
        """
        accepted = self._deliveries.accept(self._readable(deliveries))
        by_job: dict[int, Delivery] = {}
        for delivery in accepted:
            if delivery.job_id is not None:
                by_job.setdefault(delivery.job_id, delivery)
        if not by_job:
            return ()
        asked = self._clock.monotonic()
        answers = self._take(list(by_job))
        log = structlog.get_logger().bind(pool=str(self._pool), consumer=self._holder.consumer)
        held = []
        refused = []
        for job_id, delivery in by_job.items():
            match answers[job_id]:
                case Lease() as lease:
                    held.append(self._in_hand(lease, delivery, asked))
                    _tell(log, lease)
                case Refused() as refusal:
                    refused.append((delivery, refusal))
        self._answer(refused)
        if held:
            # They are in a hand now: in the stream there is room for whose turn is next.
            self._admitter.wake(())
        return held

    def _in_hand(self, lease: Lease, delivery: Delivery, asked: float) -> Held:
        held = Held(lease, delivery, limits=self._limits, now=self._clock.monotonic, asked=asked)
        self._hand.add(held)
        return held

    def _take(self, job_ids: Sequence[int]) -> Mapping[int, Lease | Refused]:
        """Ask for leases, again under the same request ids while no answer comes."""
        request = uuid.uuid4().hex
        takings = [Taking(job_id, request) for job_id in job_ids]
        give_up = self._clock.monotonic() + self._limits.lease.total_seconds() / 2
        while True:
            try:
                return self._jobs.take(takings, holder=self._holder, pool=self._pool)
            except DatabaseUnavailable:
                if self._clock.monotonic() > give_up:
                    raise
                self._clock.sleep(REPEAT_SECONDS)

    def _answer(self, refused: Sequence[tuple[Delivery, Refused]]) -> None:
        for delivery, refusal in refused:
            mine = self._hand.of(refusal.job_id) if refusal.why is Refusal.HELD else None
            if mine is not None:
                # The doorbell rang again for a job in our own hand (Redis lost the first
                # message): from now on this delivery is the one to renew and to settle.
                mine.delivery = delivery
        try:
            answer(refused, settling=self._settling)
        except StreamUnavailable as silent:
            # What was leased in the same breath is in hand by now and must run all the same.
            structlog.get_logger().warning("deliveries.left", count=len(refused), error=str(silent))

    def _readable(self, deliveries: Sequence[Delivery]) -> list[Delivery]:
        readable = []
        for delivery in deliveries:
            if delivery.job_id is not None:
                readable.append(delivery)
            elif delivery.version is None:
                self._settling.dead_letter(delivery, "the message cannot be read")
            elif delivery.token.deliveries > PATIENCE_WITH_UNKNOWN_VERSIONS:
                reason = f"no worker knows version {delivery.version} of the message"
                self._settling.dead_letter(delivery, reason)
        return readable


def _tell(log: Any, lease: Lease) -> None:
    log.info(
        "lease.taken",
        job=lease.job.id,
        fetch=lease.job.fetch_id,
        domain=str(lease.job.query.domain),
        fence=lease.fence,
        starts=lease.job.starts,
        page=lease.job.pages,
    )
