"""What Alembic runs: the migrations over the connection that `migrate.py` hands in."""

from alembic import context

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    # One transaction a migration, so that those with CREATE INDEX CONCURRENTLY can leave theirs.
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()
