"""The server's parts put together for real, over a real Postgres."""

from contextlib import closing
from dataclasses import replace

import pytest

from recollect.config import Config, read_config
from recollect.core.errors import BadSetting, NotFound, StoreError
from recollect.service.access import authenticate, ensure_admin
from recollect.wiring import open_server


def config_of(url: str) -> Config:
    return replace(read_config({}), database=url)


def test_from_the_first_start_to_a_recall(cloned_database: str) -> None:
    """The first admin's key remembers and recalls in its own space, is refused in another, and leaves its tracks."""
    server = open_server(config_of(cloned_database))
    with closing(server):
        operator = server.open_directory(None)
        token = ensure_admin(operator, server.clock)
        assert token is not None
        caller = authenticate(server.keys, token)
        memory = server.recollect(caller, "write")
        kept = memory.remember("Deploys run from the main branch every Tuesday.")
        assert server.recollect(caller, "read", "admin").recall("when do we deploy?").results[0].memory == kept
        operator.make_person("bob")
        with pytest.raises(NotFound):
            server.recollect(caller, "read", "bob")
        server.log.note(caller, "recall", [(memory.find(kept.id))])
    again = open_server(config_of(cloned_database))
    with closing(again):
        directory = again.open_directory(caller)
        assert [entry.deed for entry in directory.audit("admin", 9)] == ["recall", "remembered"]
        assert again.open_store(None).count()[0].memories == 1


def test_an_old_schema_is_refused(fresh_database: str) -> None:
    """A server does not start on a database that was not upgraded, and says what to run."""
    with pytest.raises(StoreError, match="recollect db upgrade"):
        open_server(config_of(fresh_database))


def test_a_server_needs_a_database() -> None:
    """Without an address it says which variable names it."""
    with pytest.raises(BadSetting, match="RECOLLECT_DATABASE_URL is not set"):
        open_server(config_of(""))
