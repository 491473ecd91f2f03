"""Puts the parts together, importing each when it is asked for: the only file that knows all of them."""

import os
from dataclasses import replace
from datetime import UTC, datetime

from recollect.config import Config, read_config
from recollect.core.ports import Embedder, EmbedQuery, Reranker, Store
from recollect.service.gate import Gates
from recollect.service.recollect import Recollect


def open_recollect(config: Config | None = None) -> Recollect:
    """Open the store that the environment or a configuration names, standing in its folder's project."""
    config = read_config() if config is None else config
    gates = Gates(lambda model: open_embedder(model, config))
    return Recollect(
        store=_open_store(config.store, gates.embed_query),
        clock=lambda: datetime.now(UTC),
        random=_random_bits,
        space=config.space,
        project=_project(config),
        gates=gates,
        reranker=_open_reranker(config),
    )


def open_file(path: str | os.PathLike[str], *, space: str = "personal", project: str | None = None) -> Recollect:
    """Open a store by its path, outside any project: for Python programs."""
    return open_recollect(replace(read_config(), store=os.fspath(path), space=space, folder=".", project=project or ""))


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
    from recollect.embedders.http import Key

    key = Key(named.key_variable, config.keys.get(named.key_variable, ""))
    if named.provider == "voyage":
        from recollect.embedders.voyage import open_voyage

        return open_voyage(named, key)
    if named.provider == "cohere":
        from recollect.embedders.cohere import open_cohere

        return open_cohere(named, key)
    from recollect.embedders.openai import open_openai

    return open_openai(named, key)


def _random_bits(count: int) -> int:
    """Give random bits as `secrets.randbits` does, whose import would cost a prompt hook a tenth of its time."""
    return int.from_bytes(os.urandom(-(-count // 8)), "big") >> -count % 8


def _open_store(path: str, embed_query: EmbedQuery) -> Store:
    from recollect.stores.sqlite.store import SqliteStore

    return SqliteStore(path, embed_query=embed_query)


def _project(config: Config) -> str | None:
    if config.project is not None:
        return config.project or None
    from recollect.project import identify_project

    return identify_project(config.folder) if config.folder else None


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


def _open_reranker(config: Config) -> Reranker | None:
    """Give the cross-encoder that the configuration names; it is loaded when it is first asked."""
    if not config.reranker:
        return None
    from recollect.embedders.cross_encoder import LazyCrossEncoder

    return LazyCrossEncoder(config.reranker, config.models)
