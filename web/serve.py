"""The site as gunicorn runs it."""

from pathlib import Path

CONFIGURATION = Path(__file__).with_name("gunicorn_conf.py")


def gunicorn_arguments(host: str, port: int, *, workers: int, threads: int) -> list[str]:
    """Give gunicorn's command line; what no start changes is in the configuration file."""
    place = f"[{host}]" if ":" in host else host
    return [
        "--config",
        str(CONFIGURATION),
        "--bind",
        f"{place}:{port}",
        "--workers",
        str(workers),
        "--threads",
        str(threads),
        "web.wsgi:application()",
    ]
