"""Every error of ppcfetch, chosen by what the caller must do about it.

PpcFetchError
├── Retryable(retry_after)      → later, with back-off
│   ├── ArchiveUnavailable         timeout, refused connection, 404 and 5xx, cut body
│   ├── ArchiveThrottled           429; carries the archive's own delay
│   └── ArchiveBlocked             captcha redirect, 403, HTML for JSON: rest this egress
│       └── ProxyFailed                the proxy refuses, or leads nowhere: rest it, too
├── Permanent                   → dead letter now
│   ├── ArchiveRejected            400: our request is wrong
│   └── ArchiveChanged             a body we do not understand; names the field
├── Unavailable                 → touch nothing; the site answers 503
│   ├── DatabaseUnavailable
│   └── StreamUnavailable          while publishing: log it, the sweeper will publish
├── LeaseLost                   → stop quietly; someone else has the job
├── NameLost                    → leave the process; another one bears our consumer name
├── InvalidDomain               → 400, with what was wrong
├── Refused                     → 409 or 429: understood, not allowed now; says why
├── NotFound                    → 404
└── ConfigurationError          → exit 2 at start, naming every faulty setting
"""

from datetime import timedelta


class PpcFetchError(Exception):
    """Any error of ours; its text can be shown to a person."""


class Retryable(PpcFetchError):
    """The same call may succeed later.

    Units: retry_after is the delay that the other side asked for, None when it named none.
    """

    def __init__(self, message: str, *, retry_after: timedelta | None = None) -> None:
        """Keep the message and the delay."""
        super().__init__(message)
        self.retry_after = retry_after


class ArchiveUnavailable(Retryable):
    """The archive did not answer, or answered with half a body."""


class ArchiveThrottled(Retryable):
    """The archive asks for fewer calls."""


class ArchiveBlocked(Retryable):
    """The archive has walled this egress off (captcha, 403, HTML instead of JSON)."""


class ProxyFailed(ArchiveBlocked):
    """The proxy of this egress does not let us through; the archive was not asked."""


class Permanent(PpcFetchError):
    """Trying again cannot help before somebody changes something."""


class ArchiveRejected(Permanent):
    """The archive says that our request is wrong."""


class ArchiveChanged(Permanent):
    """The archive answered in a shape that we do not understand.

    Shape: field is the path of the first key that was not as expected, such as ``1[3].6.1``.
    """

    def __init__(self, message: str, *, field: str) -> None:
        """Keep the message and the field's path."""
        super().__init__(message)
        self.field = field


class Unavailable(PpcFetchError):
    """A part of our own is away; nothing was changed as far as we know."""


class DatabaseUnavailable(Unavailable):
    """PostgreSQL gave no answer; what was under way may or may not have happened."""


class StreamUnavailable(Unavailable):
    """Redis gave no answer; what was under way may or may not have happened."""


class LeaseLost(PpcFetchError):
    """The job has been leased again, cancelled, or cannot be shown to be ours any more."""


class NameLost(PpcFetchError):
    """Another process bears this consumer name."""


class InvalidDomain(PpcFetchError):
    """The text is not a domain that can be looked up; says what is wrong in one sentence."""


class Refused(PpcFetchError):
    """The request was understood but is not allowed now; says why."""


class NotFound(PpcFetchError):
    """There is no such thing."""


class ConfigurationError(PpcFetchError):
    """The process cannot work as it is set up; names each faulty setting and what to do."""
