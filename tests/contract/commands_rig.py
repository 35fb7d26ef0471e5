"""Commands run in this process on real servers, as their users see them."""

import json
from dataclasses import dataclass, field
from typing import Any

from click.testing import CliRunner, Result

from ppcfetch.cli import entry
from tests.contract.database_rig import RealRig

SECRET = "only-for-tests-" + "x" * 32


@dataclass
class Commands:
    """The command line on one database and one Redis, and the rows behind it."""

    database: RealRig
    redis_url: str
    database_url: str
    settings: dict[str, str] = field(default_factory=dict)

    def run(self, *arguments: str) -> Result:
        """Run a command to its end."""
        environment = {
            "PPCFETCH_DATABASE_URL": self.database_url,
            "PPCFETCH_REDIS_URL": self.redis_url,
            "PPCFETCH_SECRET_KEY": SECRET,
            "COLUMNS": "250",
            **self.settings,
        }
        return CliRunner(env=environment).invoke(entry, arguments)

    def json(self, *arguments: str) -> Any:
        """Run a command and read the JSON that it prints; its exit code does not matter."""
        result = self.run(*arguments, "--json")
        assert result.exception is None or isinstance(result.exception, SystemExit), result
        return json.loads(result.stdout)
