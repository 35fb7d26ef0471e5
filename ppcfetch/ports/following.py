"""Who follows a fetch."""

from typing import Protocol

from ppcfetch.model.following import Company, Leaving


class Followers(Protocol):
    """Who asked for a fetch or joined it; `Fetches.request` notes both."""

    def company(self, fetch_id: int, user_id: int) -> Company:
        """Give a person's part in a fetch; reads only."""
        ...

    def leave(self, fetch_id: int, user_id: int) -> Leaving:
        """Take a person out of an active fetch, and end it when it does not go on without him.

        When he had asked for it, whoever joined first counts as the asker from now on, so that
        his place among the fetches of one person is free again. All in one transaction.
        """
        ...
