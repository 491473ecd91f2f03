"""An index by the last characters of an id, by which people and agents name a memory."""

from recollect.stores.postgres.migrations.run import create_index_concurrently, run

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    # The last four: the shortest handle that is taken. What is longer narrows down among those few.
    create_index_concurrently("memories_by_ending", "memories", "(space, (right(id::text, 4)))")


def downgrade() -> None:
    run("DROP INDEX memories_by_ending")
