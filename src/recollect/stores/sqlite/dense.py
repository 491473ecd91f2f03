"""The `dense` leg: meaning, by the cosine between the query's vector and each memory's. Exact, over all of a space.

Only memories of the active vector set take part, and the query is embedded by the model of that very set.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from recollect.core.errors import EmbedderError, LegError, LegTimeout
from recollect.core.hits import Evidence, Hit, Ref, merge_hits
from recollect.core.moments import to_micros
from recollect.core.ports import EmbedQuery
from recollect.core.query import Query
from recollect.core.vectors import Vector, cosine, unpack
from recollect.stores.sqlite.database import Database, time_limit
from recollect.stores.sqlite.rows import from_blob, marks, narrow, to_blob

if TYPE_CHECKING:
    from recollect.stores.sqlite.matrix import Matrix, Near

_ACTIVE: Final = "SELECT key, model, dimension, revision FROM vector_sets WHERE active"
_WITHIN: Final = "SELECT m.key FROM memories AS m WHERE m.space = ? AND {conditions}"
_IDS: Final = "SELECT key, id FROM memories WHERE key IN ({keys})"
_OF_ONE: Final = """
SELECT x.vector FROM vectors AS x
WHERE x.space = (SELECT key FROM spaces WHERE id = ?1) AND x.vector_set = ?2
AND x.memory = (SELECT key FROM memories WHERE space = (SELECT key FROM spaces WHERE id = ?1) AND id = ?3)
"""
_PATIENT_SECONDS: Final = 10.0
"""An explanation may take longer than a recall."""


Judge = Callable[[str, Vector, "Near"], Callable[[float], float]]
"""Given a model, the query's vector and all that is near it, how much evidence a cosine is."""


class _Set(NamedTuple):
    key: int
    model: str
    dimension: int | None
    revision: int


class DenseLeg:
    name = "dense"
    least = -1.0

    def __init__(self, database: Database, embed_query: EmbedQuery | None) -> None:
        self._database = database
        self.embed_query = embed_query
        self._matrices: dict[tuple[int, int], Matrix] = {}
        self._lock = threading.Lock()

    def search(self, query: Query, depth: int, seconds: float) -> Sequence[Hit]:
        return self.search_by(query, depth, seconds, lambda *_: lambda found: max(0.0, found))

    def search_by(self, query: Query, depth: int, seconds: float, judge: Judge) -> Sequence[Hit]:
        """Search, with evidence as somebody else reads it out of a cosine."""
        end = time.monotonic() + seconds
        vector, chosen = self._embed(query.text, seconds)
        left = end - time.monotonic()
        if left <= 0:
            raise LegTimeout(f"{chosen.model} took longer than {seconds * 1000:.0f} ms")
        with self._database.read() as connection, time_limit(connection, left):
            # The set as this snapshot has it, even if another was made active meanwhile: the vector is of its model.
            row = connection.execute("SELECT revision FROM vector_sets WHERE key = ?", (chosen.key,)).fetchone()
            if row is None:
                raise LegError(f"the vectors of {chosen.model} were just dropped")
            current = chosen._replace(revision=row[0])
            spaces = [
                self._search_space(connection, query, space, current, vector, judge=judge, depth=depth)
                for space in query.scope.spaces
            ]
        return merge_hits(spaces, depth)

    def weigh(self, query: Query, ref: Ref) -> Evidence:
        try:
            vector, chosen = self._embed(query.text, _PATIENT_SECONDS)
        except (LegError, EmbedderError) as error:
            return Evidence(str(error))
        with self._database.read() as connection:
            row = connection.execute(_OF_ONE, (ref.space, chosen.key, to_blob(ref.id))).fetchone()
        if row is None:
            return Evidence("it has no vector: it is sensitive, or still waits to be embedded")
        return Evidence(f"its cosine to the query is {cosine(vector, unpack(row[0])):.3f}")

    def _embed(self, text: str, seconds: float) -> tuple[Vector, _Set]:
        """Give the query's vector and the set that it may be compared with."""
        with self._database.read() as connection:
            row = connection.execute(_ACTIVE).fetchone()
        if row is None or self.embed_query is None:
            raise LegError("no embedding model is set up (`recollect embed` does that)")
        chosen = _Set(*row)
        vector = self.embed_query(chosen.model, text, seconds)
        if chosen.dimension is not None and len(vector) != chosen.dimension:
            raise LegError(f"{chosen.model} gave a vector of {len(vector)} numbers; those here have {chosen.dimension}")
        return vector, chosen

    def _search_space(
        self,
        connection: sqlite3.Connection,
        query: Query,
        space_id: str,
        chosen: _Set,
        vector: Vector,
        *,
        judge: Judge,
        depth: int,
    ) -> list[Hit]:
        row = connection.execute("SELECT key FROM spaces WHERE id = ?", (space_id,)).fetchone()
        if row is None or chosen.dimension is None:
            return []
        space = int(row[0])
        # There is room for what the query excludes, so that excluding never starves the result.
        room = depth + len(query.exclude)
        admitted = _admitted(connection, query, space)
        near = self._matrix(space, chosen).best(connection, chosen.revision, vector, room, admitted)
        evidence = judge(chosen.model, vector, near)
        hits = [
            Hit(Ref(space_id, identity), near.cosines[key], evidence(near.cosines[key]))
            for key, identity in _ids(connection, list(near.cosines))
            if identity not in query.exclude
        ]
        return merge_hits([hits], depth)

    def _matrix(self, space: int, chosen: _Set) -> "Matrix":
        try:
            from recollect.stores.sqlite.matrix import Matrix
        except ImportError:
            raise LegError("NumPy is missing (`pip install 'recollect[local]'` brings it)") from None

        assert chosen.dimension is not None  # noqa: S101 - a set without vectors has nothing to search
        with self._lock:
            # What was kept for a set that is no longer in use would only take up room.
            for other in [held for held in self._matrices if held[1] != chosen.key]:
                del self._matrices[other]
            return self._matrices.setdefault((space, chosen.key), Matrix(space, chosen.key, chosen.dimension))


def _admitted(connection: sqlite3.Connection, query: Query, space: int) -> list[int] | None:
    """Give the keys that a scope admits; `None` for all, since only what can be served has a vector."""
    scope = query.scope
    if not scope.narrows and scope.as_of is None:
        return None
    conditions, parameters = narrow(scope)
    if scope.as_of is not None:
        # A vector is of the present text: at an earlier moment, only what has not changed since is found by it.
        conditions += " AND m.updated_at <= ?"
        parameters.append(to_micros(scope.as_of))
    rows = connection.execute(_WITHIN.format(conditions=conditions), [space, *parameters])
    return [key for (key,) in rows]


def _ids(connection: sqlite3.Connection, keys: Sequence[int]) -> Iterator[tuple[int, str]]:
    for start in range(0, len(keys), 500):
        some = keys[start : start + 500]
        for key, identity in connection.execute(_IDS.format(keys=marks(some)), list(some)):
            yield key, from_blob(identity)
