"""Settings: the only reader of the environment.

Each is an environment variable `PPCFETCH_<NAME>` or a line of `.env`; units are in the names,
fractions are allowed. All faults are reported at once.
"""

import os
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, DotEnvSettingsSource, SettingsConfigDict

from ppcfetch.errors import ConfigurationError
from ppcfetch.model.admission import Admission
from ppcfetch.model.egress import Proxy, egress_names, parse_proxies
from ppcfetch.model.fetch import Reach
from ppcfetch.model.job import Pool
from ppcfetch.model.lease import Budget, Limits
from ppcfetch.model.setting_words import unknown_names, wrong_value
from ppcfetch.model.walk import LOOKS_AT_NOTHING

PREFIX = "PPCFETCH_"
ELSEWHERE = frozenset({"PPCFETCH_USER_PASSWORD", "PPCFETCH_CRASH_AT"})
"""Read by `ppcfetch user add`, and by the worker of the crash tests."""
SECRET = frozenset({"database_url", "redis_url", "archive_url", "proxies", "secret_key"})
"""Never repeated in a message."""
SHORTEST_SECRET = 32


def _database_url(value: SecretStr) -> SecretStr:
    if not value.get_secret_value().startswith(
        ("postgres://", "postgresql://", "postgresql+psycopg://")
    ):
        message = "must begin with postgresql://, such as postgresql://user:password@host/name"
        raise ValueError(message)
    return value


def _redis_url(value: SecretStr) -> SecretStr:
    if not value.get_secret_value().startswith(("redis://", "rediss://", "unix://")):
        message = "must begin with redis://, rediss:// or unix://, such as redis://host:6379/0"
        raise ValueError(message)
    return value


def _archive_url(value: str) -> str:
    if not value.startswith(("http://", "https://")):
        message = "must begin with http:// or https://, such as https://archive.example"
        raise ValueError(message)
    return value.rstrip("/")


def _secret_key(value: SecretStr) -> SecretStr:
    if len(value.get_secret_value()) < SHORTEST_SECRET:
        message = f"must have at least {SHORTEST_SECRET} characters; draw it at random"
        raise ValueError(message)
    return value


def _proxies(value: SecretStr) -> SecretStr:
    parse_proxies(value.get_secret_value())
    return value


Seconds = Annotated[float, Field(gt=0, le=86_400)]
Days = Annotated[float, Field(gt=0, le=36_500)]


def _seconds(value: float) -> timedelta:
    return timedelta(seconds=value)


class Settings(BaseSettings):
    """Everything that can be set, with its default.

    Shape: database_url, redis_url and archive_url None mean the embedded part; secret_key None
    means one that is drawn for this data folder; archive_emulated None goes by the archive's
    address, and says nothing of the embedded emulator; archive_requests_per_second None means one a
    second for a set archive address and no limit for the embedded emulator; renew_seconds None
    means a quarter of a lease, stall_seconds None three leases.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_file=".env", env_file_encoding="utf-8", extra="ignore", frozen=True
    )

    data_dir: Path = Path("var")
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65_535)
    database_url: Annotated[SecretStr, AfterValidator(_database_url)] | None = None
    redis_url: Annotated[SecretStr, AfterValidator(_redis_url)] | None = None
    archive_url: Annotated[str, AfterValidator(_archive_url)] | None = None
    archive_emulated: bool | None = Field(default=None, examples=[True])
    archive_control_domain: str = "google.com"
    archive_requests_per_second: float | None = Field(default=None, gt=0, le=10_000, examples=[1])
    proxies: Annotated[SecretStr, AfterValidator(_proxies)] | None = None
    secret_key: Annotated[SecretStr, AfterValidator(_secret_key)] | None = None
    https: bool = False
    proxy_hops: int = Field(default=0, ge=0, le=5)
    trusted_hosts: str = ""
    stale_hours: float = Field(default=24, gt=0, le=87_600)
    schedule_hours: float | None = Field(default=None, gt=0, le=87_600, examples=[24])
    fetches_at_once: int = Field(default=20, ge=1)
    lease_seconds: Seconds = 60
    renew_seconds: Seconds | None = Field(default=None, examples=[15])
    stall_seconds: Seconds | None = Field(default=None, examples=[180])
    interactive_pages: int = Field(default=20, ge=1)
    interactive_seconds: Seconds = 20
    bulk_pages: int = Field(default=200, ge=1)
    bulk_seconds: Seconds = 60
    window: int = Field(default=8, ge=2, le=100_000)
    parts_at_once: int = Field(default=8, ge=1, le=1_000)
    split_ads: int = Field(default=20_000, ge=200)
    full_walk_days: Days = 30
    overlap_hours: float = Field(default=24, ge=0, le=8_760)
    max_starts: int = Field(default=5, ge=1)
    max_attempts: int = Field(default=8, ge=LOOKS_AT_NOTHING)
    sweep_seconds: Seconds = 15
    worker_name: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_-]{1,64}$",
        description="1 to 64 letters, digits, _ and -",
        examples=["worker-1"],
    )
    keep_fetches_days: Days = 730
    keep_jobs_days: Days = 30

    @model_validator(mode="after")
    def _can_work(self) -> Self:
        faults = []
        limits = self.limits
        if limits.renew * 3 > limits.lease:
            faults.append(
                f"{PREFIX}RENEW_SECONDS ({self.renew_seconds:g}) must be at most a third of"
                f" {PREFIX}LEASE_SECONDS ({self.lease_seconds:g}), so that one lost beat is no"
                " lost lease"
            )
        if limits.stall < limits.lease:
            faults.append(
                f"{PREFIX}STALL_SECONDS ({self.stall_seconds:g}) must be at least"
                f" {PREFIX}LEASE_SECONDS ({self.lease_seconds:g}): a page may take that long"
            )
        if faults:
            raise ValueError("; ".join(faults))
        return self

    @property
    def limits(self) -> Limits:
        """The numbers of the lease protocol."""
        lease = timedelta(seconds=self.lease_seconds)
        return Limits(
            lease=lease,
            renew=lease / 4 if self.renew_seconds is None else _seconds(self.renew_seconds),
            stall=lease * 3 if self.stall_seconds is None else _seconds(self.stall_seconds),
            max_starts=self.max_starts,
            max_attempts=self.max_attempts,
        )

    def budget_of(self, pool: Pool) -> Budget:
        """Give how long a worker of the pool may be held by one job."""
        if pool is Pool.INTERACTIVE:
            return Budget(self.interactive_pages, _seconds(self.interactive_seconds))
        return Budget(self.bulk_pages, _seconds(self.bulk_seconds))

    @property
    def admission(self) -> Admission:
        """How many jobs have a message at once."""
        return Admission(self.window, self.parts_at_once)

    @property
    def reach(self) -> Reach:
        """How far back a fetch looks."""
        return Reach(
            full_every=timedelta(days=self.full_walk_days),
            overlap=timedelta(hours=self.overlap_hours),
        )

    @property
    def stale_after(self) -> timedelta:
        """How old a domain may be before it counts as stale."""
        return timedelta(hours=self.stale_hours)

    @property
    def schedule_every(self) -> timedelta | None:
        """The age from which a watched domain is fetched by itself; None is never."""
        return None if self.schedule_hours is None else timedelta(hours=self.schedule_hours)

    @property
    def sweep_every(self) -> timedelta:
        """The time between two sweeps."""
        return _seconds(self.sweep_seconds)

    @property
    def ways(self) -> tuple[Proxy, ...]:
        """The proxies over which the archive is asked; empty when it is asked directly."""
        return parse_proxies(self.proxies.get_secret_value()) if self.proxies else ()

    @property
    def egresses(self) -> tuple[str, ...]:
        """The names of all ways out."""
        return egress_names(self.ways)

    @property
    def requests_per_second(self) -> float | None:
        """The pace of each egress; None is no limit."""
        if self.archive_requests_per_second is None and self.archive_url is not None:
            return 1.0
        return self.archive_requests_per_second


def load_settings(**overrides: object) -> Settings:
    """Read the settings; overrides are options of a command, which win.

    Raises: ConfigurationError naming every faulty setting, never a value that may be secret.
    """
    try:
        return Settings(**{k: v for k, v in overrides.items() if v is not None})  # type: ignore[arg-type]  # pydantic checks them
    except ValidationError as invalid:
        raise ConfigurationError(_explained(invalid)) from None


def unknown_settings() -> tuple[str, ...]:
    """Give a sentence for each setting of the environment or `.env` that nothing reads."""
    given = {*os.environ, *DotEnvSettingsSource(Settings).env_vars}
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields} | ELSEWHERE
    return unknown_names([name for name in given if name.upper().startswith(PREFIX)], known)


def _explained(invalid: ValidationError) -> str:
    known = Settings.model_json_schema()["properties"]
    lines = []
    for error in invalid.errors(include_url=False):
        text = error["msg"].removeprefix("Value error, ")
        field = str(error["loc"][0]) if error["loc"] else ""
        name = f"{PREFIX}{field.upper()}"
        if field and field not in SECRET and error["type"] != "value_error":
            text = wrong_value(str(error["input"]), known[field], name)
        lines.append(f"{name}: {text}" if field else text)
    return "\n".join(lines)
