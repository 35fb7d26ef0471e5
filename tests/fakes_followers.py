"""Followers of fetches in memory (port `Followers`)."""

from dataclasses import replace

from ppcfetch.model.fetch import FetchState, asker_of
from ppcfetch.model.following import Company, Leaving, goes_on_without
from ppcfetch.model.job import ACTIVE
from tests.fakes_watches import FakeWatches


class FakeFollowers(FakeWatches):
    """The port `Followers`."""

    def company(self, fetch_id: int, user_id: int) -> Company:
        with self.call():
            others = self._others(fetch_id, user_id)
            if others is None:
                return Company()
            reason = self.fetches[fetch_id].reason
            return Company(follows=True, goes_on=goes_on_without(reason, len(others)))

    def leave(self, fetch_id: int, user_id: int) -> Leaving:
        with self.call():
            others = self._others(fetch_id, user_id)
            if others is None:
                return Leaving.STRANGER
            fetch = self.fetches[fetch_id]
            if fetch.state is not FetchState.ACTIVE:
                return Leaving.OVER
            if not goes_on_without(fetch.reason, len(others)):
                return Leaving.STOPPED if self.cancel(fetch_id) else Leaving.OVER
            self._hand_on(fetch_id, user_id, others)
            return Leaving.LEFT

    def _hand_on(self, fetch_id: int, user_id: int, others: list[int]) -> None:
        fetch, heir = self.fetches[fetch_id], next(iter(others), None)
        self.followers[fetch_id] = others
        if fetch.asked_by == user_id:
            self.fetches[fetch_id] = replace(fetch, asked_by=heir)
        for row in self.jobs_of(fetch_id):
            if row.asker == user_id and row.job.state in ACTIVE:
                row.asker = asker_of(fetch.reason, heir)

    def _others(self, fetch_id: int, user_id: int) -> list[int] | None:
        """Give the other followers, oldest first; None when he is none himself."""
        fetch, known = self.fetches.get(fetch_id), self.followers.get(fetch_id, [])
        if fetch is None or (fetch.asked_by != user_id and user_id not in known):
            return None
        return [other for other in known if other != user_id]
