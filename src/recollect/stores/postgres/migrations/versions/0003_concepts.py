"""What memories are about: concepts, who mentions them, what is said of them, and the queue of those to be read."""

from recollect.stores.postgres.migrations.run import run_file

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    run_file("0003_concepts.sql")


def downgrade() -> None:
    run_file("0003_down.sql")
