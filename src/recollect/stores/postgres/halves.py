"""Vectors of halves as pgvector reads them: a length, two bytes of nothing, and the numbers, most significant first.

Sent like this they cost a fortieth of what writing out and reading their digits costs.
"""

import struct
from collections.abc import Sequence
from typing import Self

from psycopg import Connection
from psycopg.adapt import Buffer, Dumper
from psycopg.pq import Format


class HalfVector(bytes):
    @classmethod
    def of(cls, vector: Sequence[float]) -> Self:
        return cls(struct.pack(f">hh{len(vector)}e", len(vector), 0, *vector))

    def values(self) -> tuple[float, ...]:
        return struct.unpack_from(f">{len(self) // 2 - 2}e", self, 4)


class _HalfVectorDumper(Dumper):
    format = Format.BINARY
    # Its number differs from database to database, so the statement says what it is: `%s::halfvec`.
    oid = 0

    def dump(self, obj: HalfVector) -> Buffer:
        return obj


def register(connection: Connection[tuple[object, ...]]) -> None:
    """Have a connection send them."""
    connection.adapters.register_dumper(HalfVector, _HalfVectorDumper)
