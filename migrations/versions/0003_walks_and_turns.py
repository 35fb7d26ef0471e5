"""Refreshes down to a mark, walks in parts, turns in line, followers, watches and imports."""

from pathlib import Path

from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    script = Path(__file__).with_name("0003_walks_and_turns.sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(script, execution_options={"no_parameters": True})
