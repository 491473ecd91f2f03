"""The tables, the queue and the walls."""

from procrastinate.schema import SchemaManager

from recollect.stores.postgres.migrations.run import run, run_file

revision = "0001"
down_revision = None


def upgrade() -> None:
    # Without pgvector everything but meaning works.
    run("""
    DO $$
    BEGIN
        IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector') THEN
            CREATE EXTENSION IF NOT EXISTS vector;
        END IF;
    EXCEPTION WHEN insufficient_privilege THEN
        -- Only a superuser may; `recollect db check` says that it is missing, and what to do.
        NULL;
    END
    $$
    """)
    run(SchemaManager.get_schema())
    run_file("0001_first.sql")
    run_file("0001_walls.sql")
    run_file("0001_directory.sql")
    run_file("0001_jobs.sql")


def downgrade() -> None:
    run_file("0001_down.sql")
