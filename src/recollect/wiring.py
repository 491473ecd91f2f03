"""Puts the parts together, importing each when it is asked for: the only file that knows all of them."""

import os
from datetime import UTC, datetime

from recollect.config import Config, read_config
from recollect.core.ports import Store
from recollect.service.recollect import Recollect


def open_recollect(config: Config | None = None) -> Recollect:
    """Open the store that the environment or a configuration names, standing in its folder's project."""
    config = read_config() if config is None else config
    return Recollect(
        store=_open_store(config.store),
        clock=lambda: datetime.now(UTC),
        random=_random_bits,
        space=config.space,
        project=_project(config),
    )


def open_file(path: str | os.PathLike[str], *, space: str = "personal", project: str | None = None) -> Recollect:
    """Open a store by its path, outside any project: for Python programs."""
    return open_recollect(Config(store=os.fspath(path), space=space, folder=".", project=project or ""))


def _random_bits(count: int) -> int:
    """Give random bits as `secrets.randbits` does, whose import would cost a prompt hook a tenth of its time."""
    return int.from_bytes(os.urandom(-(-count // 8)), "big") >> -count % 8


def _open_store(path: str) -> Store:
    from recollect.stores.sqlite.store import SqliteStore

    return SqliteStore(path)


def _project(config: Config) -> str | None:
    if config.project is not None:
        return config.project or None
    from recollect.project import identify_project

    return identify_project(config.folder) if config.folder else None
