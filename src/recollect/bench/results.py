"""What came of asking: a question's ranking and measures, and a set's."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class QueryResult:
    set: str
    query: str
    stratum: str
    metrics: Mapping[str, float]
    top: tuple[str, ...]
    milliseconds: float

    def to_json(self) -> dict[str, Any]:
        return {
            "set": self.set,
            "query": self.query,
            "stratum": self.stratum,
            "metrics": {name: round(value, 6) for name, value in self.metrics.items()},
            "top": list(self.top),
            "ms": round(self.milliseconds, 3),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "QueryResult":
        return cls(
            record["set"],
            record["query"],
            record["stratum"],
            record["metrics"],
            tuple(record["top"]),
            record["ms"],
        )


@dataclass(frozen=True, slots=True)
class SetResult:
    """A set's results, what they were measured on, and how long the query embedding takes on top."""

    name: str
    data: str
    """The fingerprint of the source."""
    memories: int
    octets: int
    rows: tuple[QueryResult, ...]
    embedding: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds to embed some of the queries, by query."""
    failures: Mapping[str, int] = field(default_factory=dict)
    """How often something was left out of an answer, by what."""

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "data": self.data,
            "memories": self.memories,
            "octets": self.octets,
            "embedding": {query: round(value, 3) for query, value in self.embedding.items()},
            "failures": dict(self.failures),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any], rows: tuple[QueryResult, ...]) -> "SetResult":
        return cls(
            record["name"],
            record["data"],
            record["memories"],
            record["octets"],
            rows,
            record["embedding"],
            record["failures"],
        )
