"""The first tables, the epoch, and the role of readers."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    for name in ("0001_first_tables.sql", "0001_reader_role.sql"):
        script = Path(__file__).with_name(name).read_text(encoding="utf-8")
        op.get_bind().exec_driver_sql(script, execution_options={"no_parameters": True})
