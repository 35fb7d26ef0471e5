"""The tables, as the newest migration leaves them; a contract test compares both.

Every time is timestamptz and written from the database clock. Domains come first in the keys
of what hangs on them, so that these tables can be distributed by domain without new code.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Date,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    MetaData,
    Sequence,
    SmallInteger,
    Table,
    Text,
    text,
)

metadata = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(column_0_name)s_fkey",
        "ix": "%(table_name)s_%(column_0_N_name)s_idx",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    }
)

Key = Text(collation="C")
"""The type of names and ids that rows are found and ordered by: ordered by their bytes.

That order is the same on every machine, so indexes outlive an upgrade of the system's languages;
it also serves searches for what a name begins with, and costs a fraction of a language's order.
"""

incarnations = Sequence("incarnations", metadata=metadata)
"""Numbers for processes: a later process always bears a higher one."""


def _when(name: str, *, nullable: bool = True) -> Column[object]:
    return Column(name, DateTime(timezone=True), nullable=nullable)


def time_of_writing(name: str) -> Column[object]:
    """Give a column that the database clock fills."""
    return Column(name, DateTime(timezone=True), nullable=False, server_default=text("now()"))


def _noted(name: str, comment: str) -> Column[object]:
    return Column(name, DateTime(timezone=True), comment=comment)


def _flag(name: str, *, default: bool, comment: str) -> Column[bool]:
    value = text("true" if default else "false")
    return Column(name, Boolean, nullable=False, server_default=value, comment=comment)


def _count(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False, server_default=text("0"))


domains = Table(
    "domains",
    metadata,
    Column("domain", Key, primary_key=True, comment="registrable domain as A-label"),
    time_of_writing("created_at"),
    Column("checked_at", DateTime(timezone=True), comment="end of the last complete fetch"),
    Column("attempted_at", DateTime(timezone=True), comment="end of the last fetch of any outcome"),
    Column("complete_fetch_id", BigInteger, comment="last fetch that read the domain to its end"),
    Column("total_lower", BigInteger, comment="the archive's own range, as last told"),
    Column("total_upper", BigInteger),
    _count("ads"),
    _count("text_ads"),
    _count("image_ads"),
    _count("video_ads"),
    _count("advertisers"),
    _noted("mark", "every ad last shown before was stored; null: walk it all"),
    _noted("walked_at", "end of the last complete full walk"),
    Column("walked_ads", BigInteger, comment="ads that the last complete full walk found"),
)

advertisers = Table(
    "advertisers",
    metadata,
    Column("advertiser_id", Key, primary_key=True),
    Column("name", Text, comment="as the archive last gave it; null when it never did"),
    time_of_writing("first_seen_at"),
)

ads = Table(
    "ads",
    metadata,
    Column("domain", Key, primary_key=True),
    Column("advertiser_id", Key, primary_key=True),
    Column("creative_id", Key, primary_key=True),
    Column("format", SmallInteger, nullable=False, comment="0 unknown, 1 text, 2 image, 3 video"),
    _when("first_shown"),
    Column("last_shown", DateTime(timezone=True)),
    Column("days_shown", Integer),
    Column("preview_kind", SmallInteger, nullable=False, comment="0 none, 1 image, 2 script"),
    Column("preview_url", Text),
    Column("preview_width", Integer),
    Column("preview_height", Integer),
    Column("first_fetch_id", BigInteger, nullable=False, comment="the fetch that first saw it"),
    Column("last_fetch_id", BigInteger, nullable=False, comment="the fetch that last saw it"),
    Column("changed_fetch_id", BigInteger, comment="the fetch that last saw it changed"),
    Index(
        # Each format apart, so that one of few ads is found among many; see `catalogue_ads`.
        # The domain is not first: else the planner could look single ads up here, reading all
        # of a domain that its statistics do not know yet and so believe to be tiny.
        "ads_by_last_shown",
        "format",
        "domain",
        text("last_shown DESC NULLS LAST"),
        text("advertiser_id"),
        text("creative_id"),
    ),
    Index(
        "ads_by_first_shown",
        "format",
        "domain",
        text("first_shown DESC NULLS LAST"),
        text("advertiser_id"),
        text("creative_id"),
    ),
    Index("ads_by_advertiser", "advertiser_id", "creative_id"),
)

fetches = Table(
    "fetches",
    metadata,
    Column("id", BigInteger, Identity(always=False), primary_key=True),
    Column("domain", Key, ForeignKey("domains.domain"), nullable=False),
    Column("state", Text, nullable=False, server_default=text("'active'")),
    Column("reason", Text, nullable=False),
    Column("asked_by", BigInteger, comment="users.id; null for commands and schedules"),
    time_of_writing("asked_at"),
    _when("started_at"),
    _when("finished_at"),
    Column("total_lower", BigInteger),
    Column("total_upper", BigInteger),
    _count("pages"),
    _count("found"),
    _count("new"),
    _count("changed"),
    Column("unseen", BigInteger, comment="held ads not seen by this fetch; known at its end"),
    _count("warnings"),
    Column("error", Text),
    Column("kind", Text, nullable=False, server_default=text("'full'")),
    _noted("until", "a refresh may stop at ads last shown before; null: never"),
    _noted("start_mark", "newest last shown time on its first page"),
    _flag("in_order", default=True, comment="false once a page was not newest last shown first"),
    _flag("shrunk", default=False, comment="a full walk found next to nothing of what was there"),
    CheckConstraint("kind IN ('full', 'refresh')", name="kind"),
    CheckConstraint("state IN ('active', 'done', 'partial', 'failed', 'cancelled')", name="state"),
    Index("fetches_one_active", "domain", unique=True, postgresql_where=text("state = 'active'")),
    Index("fetches_by_domain", "domain", text("id DESC")),
    Index("fetches_active_by_user", "asked_by", postgresql_where=text("state = 'active'")),
    Index("fetches_ended", "finished_at", "id", postgresql_where=text("state <> 'active'")),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", BigInteger, Identity(always=False), primary_key=True),
    Column("fetch_id", BigInteger, ForeignKey("fetches.id", ondelete="CASCADE"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("pool", Text, nullable=False),
    Column("domain", Key, nullable=False),
    Column("format", SmallInteger, comment="null means every format"),
    Column("first_day", Date),
    Column("last_day", Date),
    Column("state", Text, nullable=False, server_default=text("'queued'")),
    time_of_writing("created_at"),
    time_of_writing("due_at"),
    _count("fence"),
    Column("holder", Text, comment="consumer name of the last lease"),
    Column("incarnation", BigInteger),
    Column("request", Text, comment="id of the take that made this lease"),
    Column("starts", Integer, nullable=False, server_default=text("0")),
    Column("start_given_back", Boolean, nullable=False, server_default=text("false")),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    _count("pages"),
    Column("cursor", Text),
    Column("mark", Text),
    _when("oldest"),
    _when("beat_at"),
    _when("progressed_at"),
    _when("finished_at"),
    Column("error", Text),
    Column("taken_at", DateTime(timezone=True), comment="when the last lease began"),
    Column(
        "discarded_at",
        DateTime(timezone=True),
        comment="when an operator put the dead job aside",
    ),
    _noted("until", "ends at ads last shown before; null: at the end of the query"),
    _noted("newest", "newest last shown time on its first page"),
    Column(
        "fresh",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="ads that its fetch had not seen before",
    ),
    Column("parent_id", BigInteger, comment="the job that was split into this one and others"),
    Column(
        "asker",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="whose turn it takes: users.id, 0 for commands, -1 imports, -2 schedule",
    ),
    _flag("admitted", default=True, comment="false while it waits for its turn to have a message"),
    CheckConstraint("state IN ('queued', 'running', 'done', 'dead', 'cancelled')", name="state"),
    CheckConstraint("pool IN ('interactive', 'bulk')", name="pool"),
    Index("jobs_by_fetch", "fetch_id", "id"),
    # No index holds beat_at, so that beats and page writes stay heap-only updates.
    Index("jobs_active", "pool", "id", postgresql_where=text("state IN ('queued', 'running')")),
    Index(
        "jobs_ended",
        "finished_at",
        "id",
        postgresql_where=text("state IN ('done', 'cancelled')"),
    ),
    Index(
        "jobs_admitted",
        "pool",
        "id",
        postgresql_where=text("state IN ('queued', 'running') AND admitted"),
    ),
    Index(
        "jobs_waiting",
        "pool",
        "asker",
        "due_at",
        "id",
        postgresql_where=text("state = 'queued' AND NOT admitted AND parent_id IS NULL"),
    ),
    Index(
        "jobs_parts_waiting",
        "fetch_id",
        "id",
        postgresql_where=text("state = 'queued' AND NOT admitted AND parent_id IS NOT NULL"),
    ),
    Index("jobs_dead", text("id DESC"), postgresql_where=text("state = 'dead'")),
)

page_log = Table(
    "page_log",
    metadata,
    Column("job_id", BigInteger, primary_key=True),
    Column("page", BigInteger, primary_key=True, comment="1 for the first page of the job"),
    Column("fence", BigInteger, nullable=False),
    Column("holder", Text, nullable=False),
    Column("incarnation", BigInteger, nullable=False),
    Column("cursor_in", Text),
    Column("cursor_out", Text),
    Column("ads", Integer, nullable=False),
    Column("new", Integer, nullable=False),
    Column("changed", Integer, nullable=False),
    time_of_writing("written_at"),
    Index("page_log_by_time", "written_at"),
)

domain_advertisers = Table(
    "domain_advertisers",
    metadata,
    Column("domain", Key, primary_key=True),
    Column("advertiser_id", Key, primary_key=True),
    _count("ads"),
    _when("first_shown"),
    _when("last_shown"),
    Index("domain_advertisers_by_ads", "domain", text("ads DESC"), text("advertiser_id")),
    Index("domain_advertisers_by_advertiser", "advertiser_id", text("ads DESC"), "domain"),
)

domain_days = Table(
    "domain_days",
    metadata,
    Column("domain", Key, primary_key=True),
    Column("day", Date, primary_key=True),
    Column("delta", BigInteger, nullable=False, comment="windows that begin minus that ended"),
)
"""Running sums of delta up to a day count the ads whose first-to-last window covers it."""
