"""Puts the parts together, importing each when it is asked for: the only file that knows all of them."""

import os
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from recollect.config import Config, read_config
from recollect.core.errors import BadSetting, StoreError
from recollect.core.ports import Embedder, EmbedQuery, Reranker, Store
from recollect.service.gate import Gates
from recollect.service.recollect import Recollect
from recollect.values import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recollect.core.access import Caller
    from recollect.core.directory import Directory
    from recollect.core.foreign import Location
    from recollect.core.language_model import Budgets, LanguageModel
    from recollect.core.learning import Learner
    from recollect.extractors.llm import LlmExtractor
    from recollect.journal.given import Usage
    from recollect.resident.listen import Resident
    from recollect.service.server import Server
    from recollect.service.take_in import TakenIn
    from recollect.stores.postgres.database import Database
    from recollect.stores.postgres.jobs import JobLag

_NOTING_SECONDS: Final = 0.2
"""How long an agent's tool may be held up by whoever else writes to the journal."""
_READING_SECONDS: Final = 1.0
"""How long a recall of a Python program may be held up by memories whose concepts are not read yet."""


def open_recollect(config: Config | None = None) -> Recollect:
    """Open the store that the environment or a configuration names, standing in its folder's project."""
    from recollect.project import project_of

    config = read_config() if config is None else config
    gates = Gates(lambda model: open_embedder(model, config))
    return Recollect(
        store=_open_store(config.store, gates.embed_query),
        clock=_now,
        random=_random_bits,
        space=config.space,
        project=project_of(config.project, config.folder),
        gates=gates,
        reranker=_open_reranker(config),
        settle=lambda: _settle(config),
    )


def open_resident(recollect: Recollect, config: Config) -> "Resident | None":
    """Give what answers hooks by meaning, with the model and the vectors that this process has loaded.

    Where there are no such sockets (Windows) there is none, and hooks do without meaning.
    """
    import socket

    if not hasattr(socket, "AF_UNIX"):
        return None
    from recollect.resident.listen import Resident
    from recollect.stores.sqlite.dense import DenseLeg
    from recollect.stores.sqlite.ordinary import AboveOrdinary

    dense = next(leg for leg in recollect.store.legs if isinstance(leg, DenseLeg))
    return Resident(config.resident, AboveOrdinary(dense), recollect.space)


def open_use_notes(config: Config) -> "Callable[[list[str]], None]":
    """Give what keeps that an agent made use of memories, if they had been given to it."""
    from recollect.core.moments import to_micros
    from recollect.journal import given
    from recollect.journal.file import Journal

    journal = Journal(config.journal, _NOTING_SECONDS)

    def note(memories: list[str]) -> None:
        # What cannot be noted is only missing from the statistics.
        with suppress(StoreError):
            given.use(journal, memories, to_micros(_now()))

    return note


def read_usage(config: Config, days: int) -> "Usage | None":
    """Give what hooks did in the last days; nothing where there never was one."""
    from datetime import timedelta

    from recollect.core.moments import to_micros
    from recollect.journal import given
    from recollect.journal.file import Journal

    if not os.path.exists(config.journal):
        return None
    with Journal(config.journal) as journal:
        return given.tally(journal, to_micros(_now() - timedelta(days=days)))


def open_file(path: str | os.PathLike[str], *, space: str = "personal", project: str | None = None) -> Recollect:
    """Open a store by its path, outside any project: for Python programs."""
    config = replace(read_config(), store=os.fspath(path), space=space, folder=".", project=project or "")
    return replace(open_recollect(config), reading_seconds=_READING_SECONDS)


def open_server(config: Config | None = None, *, connections: int | None = None) -> "Server":
    """Open the database that the environment or a configuration names, for many callers; its schema must be ours."""
    from recollect.service.server import Server

    config = read_config() if config is None else config
    gates = Gates(lambda model: open_embedder(model, config))
    database = open_database(config, size=connections)
    # Only where there are psycopg and a database.
    from recollect.stores.postgres.audit import PostgresLog
    from recollect.stores.postgres.directory import PostgresDirectory
    from recollect.stores.postgres.health import examine_database
    from recollect.stores.postgres.jobs import job_lag
    from recollect.stores.postgres.keys import PostgresKeys
    from recollect.stores.postgres.store import PostgresStore

    log = PostgresLog(database, _now)

    def view(caller: "Caller | None") -> "Database":
        return database if caller is None else database.as_caller(caller)

    def lag() -> "JobLag":
        with database.read() as connection:
            return job_lag(connection)

    def close() -> None:
        log.close()
        database.close()

    return Server(
        open_store=lambda caller: PostgresStore(
            view(caller), embed_query=gates.embed_query, recall_query=gates.recall_query
        ),
        open_directory=lambda caller: PostgresDirectory(view(caller), _now),
        keys=PostgresKeys(database, _now),
        log=log,
        clock=_now,
        random=_random_bits,
        gates=gates,
        reranker=_open_reranker(config),
        examine=lambda: examine_database(database),
        pool_stats=database.pool.get_stats,
        job_lag=lag,
        close=close,
    )


@contextmanager
def open_directory(config: Config) -> "Iterator[Directory]":
    """Open the directory of people, spaces and keys as the operator has it."""
    database = open_database(config, size=1)
    from recollect.stores.postgres.directory import PostgresDirectory

    try:
        yield PostgresDirectory(database, _now)
    finally:
        database.close()


def open_database(config: Config, *, size: int | None = None) -> "Database":
    """Open the server's database, as the operator; refuse one whose schema is not this program's."""
    address = database_address(config)
    from recollect.stores.postgres.database import POOL_SIZE, Database
    from recollect.stores.postgres.migrate import check

    check(address)
    return Database.open(address, size=POOL_SIZE if size is None else size)


def database_address(config: Config) -> str:
    """Give the address of the server's database, once it is sure that there is one and that it can be spoken to."""
    if not config.database:
        raise BadSetting(
            "RECOLLECT_DATABASE_URL is not set: it names the server's Postgres, such as "
            "postgresql://recollect@localhost/recollect. `recollect dev` starts one for trying out."
        )
    try:
        import alembic  # noqa: F401
        import procrastinate  # noqa: F401
        import psycopg_pool  # noqa: F401
    except ImportError as error:
        raise StoreError(f"The server needs more packages ({error}). Run: pip install 'recollect[server]'") from error
    return config.database


def open_embedder(model: str, config: Config | None = None, *, allow_download: bool = False) -> Embedder:
    """Open an embedding model by any of its names; one that is not here is fetched only if that is allowed."""
    from recollect.embedders.naming import parse_model

    config = read_config() if config is None else config
    named = parse_model(model)
    if named.provider == "fastembed":
        from recollect.embedders.fastembed import open_fastembed

        return open_fastembed(named, config.models, allow_download=allow_download)
    if named.provider == "folder":
        from recollect.embedders.fastembed import open_folder

        return open_folder(named)
    from recollect.remote.http import Key

    key = Key(named.key_variable, config.keys.get(named.key_variable, ""))
    if named.provider == "voyage":
        from recollect.embedders.voyage import open_voyage

        return open_voyage(named, key)
    if named.provider == "cohere":
        from recollect.embedders.cohere import open_cohere

        return open_cohere(named, key)
    from recollect.embedders.openai import open_openai

    return open_openai(named, key)


def open_extractor(budgets: "Budgets", config: Config | None = None) -> "LanguageModel | None":
    """Open the language model that may read concepts, if the configuration names one: by default none does."""
    return _open_llm(budgets, read_config() if config is None else config)


def open_learner(budgets: "Budgets", config: Config) -> "Learner | None":
    """Open the same model, to read conversations."""
    return _open_llm(budgets, config)


def _open_llm(budgets: "Budgets", config: Config) -> "LlmExtractor | None":
    if not config.extractor:
        return None
    from recollect.extractors.llm import LlmExtractor
    from recollect.extractors.naming import parse_llm
    from recollect.remote.http import Key

    named = parse_llm(config.extractor)
    return LlmExtractor(named, Key(named.key_variable, config.keys.get(named.key_variable, "")), budgets)


def import_foreign(memory: Recollect, source: str, path: str, *, project: str | None, dry_run: bool) -> "TakenIn":
    """Take in what another system keeps at a path; what a secret is found in becomes sensitive."""
    from recollect.importers.formats import read_source
    from recollect.secrets.detect import find_secrets
    from recollect.service.take_in import take_in

    folders: list[str] = []

    def locate(folder: str) -> "Location":
        folders.append(folder)
        return _locate(folder)

    outcome = take_in(
        memory.store,
        memory.clock,
        memory.space,
        source,
        read_source(source, path, locate),
        project=project,
        find_secrets=find_secrets,
        dry_run=dry_run,
    )
    if not dry_run:
        from recollect.project import keep_name

        for folder in folders:
            keep_name(folder)
    return outcome


def _now() -> datetime:
    return datetime.now(UTC)


def _random_bits(count: int) -> int:
    """Give random bits as `secrets.randbits` does, whose import would cost a prompt hook a tenth of its time."""
    return int.from_bytes(os.urandom(-(-count // 8)), "big") >> -count % 8


def _open_store(path: str, embed_query: EmbedQuery) -> Store:
    from recollect.stores.sqlite.store import SqliteStore

    return SqliteStore(path, embed_query=embed_query)


def _settle(config: Config) -> None:
    """Have the project that one stands in keep its name, if it is known by its folder."""
    if config.project is None and config.folder:
        from recollect.project import keep_name

        keep_name(config.folder)


def _locate(folder: str) -> "Location":
    from recollect.core.foreign import Location
    from recollect.project import find_root, identify_project

    return Location(identify_project(folder), find_root(folder))


def consent_to(model: str, config: Config, *, known: bool = False) -> str:
    """Say what using a model means, in a sentence to agree to; nothing if it means nothing, or nothing new."""
    from recollect.embedders.naming import parse_model

    named = parse_model(model)
    if named.where == "remote":
        if known:
            return ""
        host = named.address.split("/")[2]
        return f"The text of your memories, sensitive ones excepted, and of your queries will be sent to {host}."
    if named.provider != "fastembed":
        return ""
    from recollect.embedders.fastembed import describe

    card = describe(model, config.models)
    size = f"{card.megabytes:,} MB, licence {card.licence}"
    return "" if card.is_here else f"{named.name} will be fetched once, to {config.models}: {size}."


def consent_to_reading(config: Config, *, known: bool = False) -> str:
    """Say what having a language model read means, in a sentence to agree to; nothing if it means nothing new."""
    from recollect.extractors.naming import parse_llm

    named = parse_llm(config.extractor)
    if known or named.is_local:
        return ""
    return f"The text of your memories, sensitive ones excepted, will be sent to {named.address.split('/')[2]}."


def _open_reranker(config: Config) -> Reranker | None:
    """Give the cross-encoder that the configuration names; it is loaded when it is first asked."""
    if not config.reranker:
        return None
    from recollect.embedders.cross_encoder import LazyCrossEncoder

    return LazyCrossEncoder(config.reranker, config.models)
