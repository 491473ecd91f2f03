"""The `dense` leg: meaning, by the cosine between the query's vector and each memory's, as both are of unit length.

All of a space is compared, which gives exactly the best; only a space so large that a worker has made an HNSW index
for it (`hnsw.py`) is searched through that, and what it brings is scored exactly. Only memories of the active vector
set take part, and the query is embedded by the model of that very set.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from psycopg import Connection

from recollect.core.errors import EmbedderError, LegError
from recollect.core.hits import Evidence, Hit, Ref, merge_hits
from recollect.core.memory import is_id
from recollect.core.moments import to_micros
from recollect.core.ports import EmbedQuery
from recollect.core.query import Query, Scope
from recollect.core.vectors import Vector
from recollect.stores.postgres.database import Database, Row
from recollect.stores.postgres.halves import HalfVector
from recollect.stores.postgres.rows import narrow
from recollect.stores.postgres.spaces import key_of_space
from recollect.stores.postgres.surveying import survey

NO_MODEL: Final = "no embedding model is set up (`recollect embed` does that)"
EF_SEARCH: Final = 400
EF_GROWTH: Final = 1000
"""How far an HNSW search looks about, and in how many memories it looks about one further: so it finds .99 of the best
fifty among 20,000 and .97 among 200,000 (`benchmarks/million.py`)."""
_LARGEST_EF: Final = 1000
"""pgvector takes no more."""
_PATIENT_SECONDS: Final = 10.0
"""An explanation may take longer than a recall."""
_ALL: Final = (1 << 31) - 1

_ACTIVE: Final = "SELECT key, model, dimension FROM vector_sets WHERE active"
# The query comes as the sum of two vectors of halves: with one alone, scores would be off in the fourth digit.
_SCORE: Final = "-((v.vector <#> %s::halfvec) + (v.vector <#> %s::halfvec))"
# The best are found in the narrow table; only they are looked up in theirs (OFFSET 0: one by one, and not by reading
# all of it). Scores are rounded and ties broken by id, as in every store.
_BEST: Final = """
WITH best AS ({best})
SELECT m.id::text, ROUND(b.score::numeric, 6)::double precision AS points
FROM best AS b CROSS JOIN LATERAL (SELECT id FROM memories WHERE space = %s AND key = b.memory OFFSET 0) AS m
ORDER BY points DESC, m.id
"""
_EXACT: Final = f"""
SELECT v.memory, {_SCORE} AS score FROM vectors_{{vector_set}} AS v
WHERE v.space = %s {{within}} ORDER BY score DESC LIMIT %s
"""
# The space stands in the statement itself: a planner that does not know it cannot tell that the index is of it. So does
# the limit: without, it supposes a tenth of all rows, and that comparing every one would be cheaper.
_NEAREST: Final = f"""
SELECT v.memory, {_SCORE} AS score FROM (
    SELECT v.memory, v.vector FROM vectors_{{vector_set}} AS v
    WHERE v.space = {{space}} ORDER BY v.vector <#> %s::halfvec LIMIT {{most}}
) AS v
"""
_WITHIN: Final = "AND v.memory IN (SELECT m.key FROM memories AS m WHERE m.space = %s AND {conditions})"
_OF_ONE: Final = f"""
SELECT {_SCORE} FROM vectors_{{vector_set}} AS v
WHERE v.space = %s AND v.memory = (SELECT key FROM memories WHERE space = %s AND id = %s)
"""
_INDEXED: Final = """
SELECT s.memories FROM vector_indexes AS i JOIN spaces AS s ON s.key = i.space WHERE i.space = %s AND i.vector_set = %s
"""


class _Set(NamedTuple):
    key: int
    model: str
    dimension: int | None


class _Halves(NamedTuple):
    """A vector as the sum of two of halves: the nearest, and what that lacks."""

    near: HalfVector
    rest: HalfVector


class DenseLeg:
    name = "dense"
    least = -1.0

    def __init__(
        self,
        database: Database,
        embed_query: EmbedQuery | None,
        recall_query: Callable[[str, str], Vector | None] = lambda _model, _text: None,
    ) -> None:
        self._database = database
        self._embed_query = embed_query
        self._recall_query = recall_query
        """Gives a query's vector if it is known already."""

    @contextmanager
    def reading(self, query: Query, seconds: Callable[[], float]) -> Iterator[None]:
        """Begin a reading, and embed the query before it if need be: no connection is held meanwhile."""
        with self._database.reading() as reading:
            survey(reading, query)
            wanted = self._wanted(query.text) if seconds() else None
            if wanted is None:
                yield
                return
            limit = seconds()
        made = self._try_to_embed(wanted, query.text, limit)
        with self._database.reading() as reading:
            survey(reading, query)
            reading.noted["query", wanted, query.text] = made
            yield

    def search(self, query: Query, depth: int, seconds: float) -> Sequence[Hit]:
        chosen, vector = self._ready(query.text, seconds)
        with self._database.leg(seconds) as connection:
            spaces = [
                self._search_space(connection, query, space, chosen, _halve(vector), depth=depth)
                for space in query.scope.spaces
            ]
        return merge_hits(spaces, depth)

    def weigh(self, query: Query, ref: Ref) -> Evidence:
        try:
            chosen, vector = self._ready(query.text, _PATIENT_SECONDS)
        except (LegError, EmbedderError) as error:
            return Evidence(str(error))
        with self._database.read() as connection:
            space = key_of_space(self._database, connection, ref.space)
            row = None
            if chosen.dimension is not None and is_id(ref.id):
                row = connection.execute(
                    _OF_ONE.format(vector_set=chosen.key), (*_halve(vector), space, space, ref.id)
                ).fetchone()
            memories = None if _narrows(query.scope) else self._indexed(connection, space or -1, chosen)
        if row is None:
            return Evidence("it has no vector: it is sensitive, or still waits to be embedded")
        how = f"its space is searched through an HNSW index, ef_search {_ef_search(memories)}" if memories else ""
        return Evidence("; ".join(filter(None, (f"its cosine to the query is {row[0]:.3f}", how))))

    def _active(self) -> _Set | None:
        with self._database.read() as connection:
            noted = self._database.noted
            if "active set" not in noted:
                noted["active set"] = connection.execute(_ACTIVE).fetchone()
            return None if noted["active set"] is None else _Set(*noted["active set"])

    def _ready(self, text: str, seconds: float) -> tuple[_Set, Vector]:
        """Give the set in use and the query's vector, made before or made now."""
        chosen = self._active()
        if chosen is None or self._embed_query is None:
            raise LegError(NO_MODEL)
        made = self._database.noted.get(("query", chosen.model, text))
        if made is None:
            made = self._embed_query(chosen.model, text, seconds)
        if isinstance(made, Exception):
            raise made
        if chosen.dimension is not None and len(made) != chosen.dimension:
            raise LegError(f"{chosen.model} gave a vector of {len(made)} numbers; those here have {chosen.dimension}")
        return chosen, made

    def _wanted(self, text: str) -> str | None:
        """Give the model that has yet to embed a query; none if nobody can, or it is known."""
        chosen = self._active()
        if self._embed_query is None or chosen is None or self._recall_query(chosen.model, text) is not None:
            return None
        return chosen.model

    def _try_to_embed(self, model: str, text: str, seconds: float) -> Vector | Exception:
        assert self._embed_query is not None  # noqa: S101 - asked for by `reading` only then
        try:
            return self._embed_query(model, text, seconds)
        except (LegError, EmbedderError) as error:
            return error

    def _search_space(
        self, connection: Connection[Row], query: Query, space_id: str, chosen: _Set, vector: _Halves, *, depth: int
    ) -> list[Hit]:
        space = key_of_space(self._database, connection, space_id)
        if space is None or chosen.dimension is None:
            return []
        # There is room for what the query excludes, so that excluding never starves the result, and for one more,
        # which tells whether there is a tie across the cut. Then all that tie have to show their ids.
        room = depth + len(query.exclude)
        indexed = None if _narrows(query.scope) else self._indexed(connection, space, chosen)
        if indexed is not None:
            ef_search = min(_LARGEST_EF, max(_ef_search(indexed), 2 * room))
            rows = self._search_index(connection, space, chosen, vector, most=room, ef_search=ef_search)
        else:
            rows = self._search_all(connection, query.scope, space, chosen, vector, most=room + 1)
            if len(rows) > room and rows[room][1] == rows[room - 1][1]:
                rows = self._search_all(connection, query.scope, space, chosen, vector, most=_ALL)
        hits = [
            Hit(Ref(space_id, identity), score, max(0.0, score))
            for identity, score in rows
            if identity not in query.exclude
        ]
        return hits[:depth]

    def _search_all(
        self, connection: Connection[Row], scope: Scope, space: int, chosen: _Set, vector: _Halves, *, most: int
    ) -> list[Row]:
        within, narrowing = _within(scope, space)
        best = _EXACT.format(vector_set=chosen.key, within=within)
        return connection.execute(_BEST.format(best=best), [*vector, space, *narrowing, most, space]).fetchall()

    def _search_index(
        self, connection: Connection[Row], space: int, chosen: _Set, vector: _Halves, *, most: int, ef_search: int
    ) -> list[Row]:
        connection.execute(f"SET LOCAL hnsw.ef_search = {ef_search}; SET LOCAL hnsw.iterative_scan = 'relaxed_order'")
        best = _NEAREST.format(vector_set=chosen.key, space=space, most=most)
        return connection.execute(_BEST.format(best=best), [*vector, vector.near, space]).fetchall()

    def _indexed(self, connection: Connection[Row], space: int, chosen: _Set) -> int | None:
        """Give how many memories a space has, if its vectors have an index."""
        indexed: dict[tuple[int, int], int] | None = self._database.noted.get("indexed")
        if indexed is not None:
            return indexed.get((space, chosen.key))
        row = connection.execute(_INDEXED, (space, chosen.key)).fetchone()
        return None if row is None else int(row[0])


def _ef_search(memories: int) -> int:
    return min(_LARGEST_EF, EF_SEARCH + memories // EF_GROWTH)


def _halve(vector: Vector) -> _Halves:
    near = HalfVector.of(vector)
    return _Halves(near, HalfVector.of([value - half for value, half in zip(vector, near.values(), strict=True)]))


def _narrows(scope: Scope) -> bool:
    """Whether only part of a space is looked at, which is then compared one by one."""
    return scope.narrows or scope.as_of is not None


def _within(scope: Scope, space: int) -> tuple[str, list[Any]]:
    if not _narrows(scope):
        # Only what can be served has a vector.
        return "", []
    conditions, parameters = narrow(scope)
    if scope.as_of is not None:
        # A vector is of the present text: at an earlier moment, only what has not changed since is found by it.
        conditions += " AND m.updated_at <= %s"
        parameters.append(to_micros(scope.as_of))
    return _WITHIN.format(conditions=conditions), [space, *parameters]
