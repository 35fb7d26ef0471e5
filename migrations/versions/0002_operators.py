"""What operators do: pauses, the audit, discarded jobs, and since when a lease is held."""

from pathlib import Path

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    script = Path(__file__).with_name("0002_operators.sql").read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(script, execution_options={"no_parameters": True})
