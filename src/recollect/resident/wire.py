"""What a hook and a resident process say to each other over a local socket: a line of JSON each way."""

import json
from collections.abc import Sequence
from typing import Any, Final

from recollect.core.errors import LegError
from recollect.core.hits import Hit, Ref
from recollect.core.query import Query, Scope

MOST_BYTES: Final = 1 << 20
"""Of one line. A hook's question and the hits that answer it take a few thousand."""


def to_request(query: Query, depth: int, seconds: float) -> bytes:
    scope = query.scope
    asked = {
        "text": query.text,
        "spaces": scope.spaces,
        "project": scope.project,
        "exclude": sorted(query.exclude),
        "depth": depth,
        "seconds": seconds,
    }
    return json.dumps(asked).encode() + b"\n"


def from_request(line: bytes) -> tuple[Query, int, float]:
    asked = json.loads(line)
    scope = Scope(tuple(asked["spaces"]), asked["project"])
    return (
        Query(asked["text"], scope, exclude=frozenset(asked["exclude"])),
        int(asked["depth"]),
        float(asked["seconds"]),
    )


def to_answer(hits: Sequence[Hit]) -> bytes:
    return json.dumps({"hits": [[*hit.ref, hit.score, hit.evidence] for hit in hits]}).encode() + b"\n"


def to_failure(reason: str) -> bytes:
    return json.dumps({"failure": reason}).encode() + b"\n"


def from_answer(line: bytes) -> list[Hit]:
    answer: dict[str, Any] = json.loads(line)
    if "failure" in answer:
        raise LegError(str(answer["failure"]))
    return [Hit(Ref(space, memory), score, evidence) for space, memory, score, evidence in answer["hits"]]
