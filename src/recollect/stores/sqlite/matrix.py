"""The vectors of one set and one space, held in memory as a matrix that follows the table.

Kept as halves on disk, computed in float32: a product in halves is thirty times slower.
"""

import sqlite3
import threading
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

import numpy as np

from recollect.core.vectors import Vector
from recollect.values import value

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Vectors that came in since a revision; all of them, from the first.
_CHANGED: Final = "SELECT memory, vector FROM vectors WHERE space = ? AND vector_set = ? AND revision > ?"
_COUNT: Final = "SELECT COUNT(*) FROM vectors WHERE space = ? AND vector_set = ?"
_KEYS: Final = "SELECT memory FROM vectors WHERE space = ? AND vector_set = ?"

_DIGITS: Final = 6
"""Scores are rounded, so that ties are ties in every store."""


@value
class Near:
    """What is nearest to a query, by key, and what all cosines of the space add up to."""

    cosines: dict[int, float]
    total: float
    count: int


class Matrix:
    """Row n of `rows` is the vector of the memory `keys[n]`. There is room to grow behind the last row in use."""

    def __init__(self, space: int, vector_set: int, dimension: int) -> None:
        self._of = (space, vector_set)
        self._rows: NDArray[np.float32] = np.empty((0, dimension), np.float32)
        self._keys: NDArray[np.int64] = np.empty(0, np.int64)
        self._place: dict[int, int] = {}
        self._revision = 0
        self._lock = threading.Lock()

    def best(
        self,
        connection: sqlite3.Connection,
        revision: int,
        query: Vector,
        room: int,
        admitted: Collection[int] | None,
    ) -> "Near":
        """Give the keys nearest to the query with their cosines, in no order: `room` of them and all that tie.

        `revision` is the set's in the connection's snapshot; `admitted` are the only keys to look at, if given.
        """
        keys, scores = self._score(connection, revision, np.asarray(query, np.float32))
        total, count = float(scores.sum()), len(scores)
        if admitted is not None:
            inside = np.isin(keys, np.fromiter(admitted, np.int64, len(admitted)))
            keys, scores = keys[inside], scores[inside]
        scores = np.round(scores, _DIGITS)
        if len(scores) > room:
            near = scores >= np.partition(scores, -room)[-room]
            keys, scores = keys[near], scores[near]
        return Near(dict(zip(keys.tolist(), scores.tolist(), strict=True)), total, count)

    def _score(
        self, connection: sqlite3.Connection, revision: int, query: "NDArray[np.float32]"
    ) -> "tuple[NDArray[np.int64], NDArray[np.float64]]":
        with self._lock:
            if revision != self._revision:
                self._follow(connection, revision)
            used = len(self._place)
            return self._keys[:used].copy(), (self._rows[:used] @ query).astype(np.float64)

    def _follow(self, connection: sqlite3.Connection, revision: int) -> None:
        # A snapshot older than what is held comes from a recall that began before another: it reads all anew.
        since = self._revision if revision > self._revision else 0
        self._revision = 0  # until all is read: time may run out midway, and then the next one reads all anew
        if not since:
            self._place.clear()
        changed = connection.execute(_CHANGED, (*self._of, since)).fetchall()
        self._make_room(len(self._place) + len(changed))
        if changed:
            rows = [self._place.setdefault(key, len(self._place)) for key, _ in changed]
            vectors = np.frombuffer(b"".join(vector for _, vector in changed), "<f2")
            self._keys[rows] = [key for key, _ in changed]
            self._rows[rows] = vectors.reshape(len(changed), -1)
        (count,) = connection.execute(_COUNT, self._of).fetchone()
        if count != len(self._place):
            present = {key for (key,) in connection.execute(_KEYS, self._of)}
            for key in self._place.keys() - present:
                self._remove(key)
        self._revision = revision

    def _make_room(self, wanted: int) -> None:
        if wanted <= len(self._rows):
            return
        used = len(self._place)
        room = max(wanted, wanted + wanted // 4 if used else wanted)
        rows = np.empty((room, self._rows.shape[1]), np.float32)
        keys = np.empty(room, np.int64)
        rows[:used], keys[:used] = self._rows[:used], self._keys[:used]
        self._rows, self._keys = rows, keys

    def _remove(self, key: int) -> None:
        """Move the last row into the gap."""
        row, last = self._place.pop(key), len(self._place)
        if row != last:
            moved = int(self._keys[last])
            self._rows[row], self._keys[row] = self._rows[last], moved
            self._place[moved] = row
