"""Requests as somebody puts them, and what their answers give away: no mark may come back that its asker may not see.

A request that names what the asker may not see is put a second time, with a name that was never given to anything:
both answers have to be the same but for the name.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

import psycopg
from fastapi.testclient import TestClient

from recollect.service.server import Server
from walls.permitted import Key, Model, marks_in

FAULT: Final = 500
REFUSED: Final = 400
MCP: Final = "POST /mcp"
_TOOL_HEADERS: Final = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
# What differs between two answers to the same question though nothing has changed.
_PASSING: Final = frozenset({"content-length", "date", "x-request-id"})
_FLEETING: Final = re.compile(r'"milliseconds":[^,}]+|"last_used_at":[^,}]+')

# What there is in the database, whoever may see it: a digest for each space, the keys of each person, the people, and
# what belongs to the server. It leaves out the log and when keys were used last, since reading writes both.
DIGESTS: Final = """
SELECT scope, md5(string_agg(item, '|' ORDER BY item)) FROM (
    SELECT 'space ' || space AS scope, 'memory ' || t::text AS item FROM memories AS t
    UNION ALL SELECT 'space ' || space, 'revision ' || t::text FROM revisions AS t
    UNION ALL SELECT 'space ' || space, 'posting ' || t::text FROM postings AS t
    UNION ALL SELECT 'space ' || space, 'link ' || t::text FROM links AS t
    UNION ALL SELECT 'space ' || space, 'waiting ' || t::text FROM outbox AS t
    UNION ALL SELECT 'space ' || space, 'member ' || t::text FROM memberships AS t
    UNION ALL SELECT 'space ' || key, 'space ' || t::text FROM spaces AS t
    UNION ALL
    SELECT CASE space WHEN 0 THEN 'server' ELSE 'space ' || space END, 'setting ' || t::text FROM settings AS t
    UNION ALL SELECT 'server', 'vectors ' || t::text FROM vector_sets AS t
    UNION ALL SELECT 'people', 'person ' || t::text FROM people AS t
    UNION ALL
    SELECT 'keys of ' || p.id, concat_ws(' ', k.prefix, k.hash, k.name, k.scope, k.spaces, k.expires_at, k.revoked_at)
    FROM api_keys AS k JOIN people AS p ON p.key = k.person
) AS everything
GROUP BY scope
"""


@dataclass(frozen=True)
class Ask:
    """A request; `operation` is its method and its path as the document has it."""

    operation: str
    path: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    content: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All that is in it, to be searched."""
        parts = (self.path, self.params, self.body, self.headers)
        return "\n".join((*(json.dumps(part, ensure_ascii=False) for part in parts), self.content or ""))

    def naming(self, old: str, new: str) -> "Ask":
        """Give the same request with another name in place of one."""

        def swap(part: Any) -> Any:  # noqa: ANN401 - JSON
            return json.loads(json.dumps(part).replace(old, new))

        content = None if self.content is None else self.content.replace(old, new)
        return Ask(self.operation, swap(self.path), swap(self.params), swap(self.body), content, swap(self.headers))


def tool(name: str, space: str | None, **arguments: Any) -> Ask:  # noqa: ANN401 - JSON
    """Give the call of a tool over MCP."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    headers = {} if space is None else {"X-Recollect-Space": space}
    return Ask(MCP, body=body, headers={**_TOOL_HEADERS, **headers})


@dataclass(frozen=True)
class Answer:
    status: int
    text: str
    headers: Mapping[str, str]

    @property
    def data(self) -> Any:  # noqa: ANN401 - JSON
        return json.loads(self.text)

    @property
    def refused(self) -> bool:
        return self.status >= REFUSED

    @property
    def lasting(self) -> str:
        """Give the text but for what is never the same twice."""
        return _FLEETING.sub("", self.text)

    def without(self, name: str) -> tuple[int, str, dict[str, str]]:
        """Give the answer as it is with a name taken out, to be compared."""
        headers = {each: value.replace(name, "?") for each, value in self.headers.items() if each not in _PASSING}
        return self.status, self.lasting.replace(name, "?"), headers


@dataclass
class Stage:
    """The server that a machine plays on, and what was asked of it so far."""

    name: str
    """Another name, other examples."""
    server: Server
    http: TestClient
    watch: psycopg.Connection[tuple[Any, ...]]
    """The database behind its walls, as a superuser sees it."""
    empty: Callable[[], None]
    walls_alone: bool = False
    """Whether the program's predicate allows everything."""
    gullible: bool = False
    """Whether the program takes everybody for somebody who may everything."""
    steps: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    refused: Counter[int] = field(default_factory=Counter)
    twins: int = 0

    @property
    def figures(self) -> str:
        asked = ", ".join(f"{number} {name}" for name, number in sorted(self.asked.items()))
        refused = ", ".join(f"{number} with {status}" for status, number in sorted(self.refused.items()))
        total = f"{self.steps} steps, {self.asked.total()} requests, {self.twins} of them put twice"
        return f"{total}; refused: {refused}; {asked}"

    def digests(self) -> dict[str, str]:
        return dict(self.watch.execute(DIGESTS).fetchall())

    def send(self, ask: Ask, token: str | None) -> Answer:
        method, _, template = ask.operation.partition(" ")
        path = template.format(**ask.path)
        headers = dict(ask.headers) if token is None else {"Authorization": f"Bearer {token}", **ask.headers}
        content = ask.content
        if ask.body is not None:
            content = json.dumps(ask.body)
            headers["Content-Type"] = "application/json"
        query = f"?{urlencode(ask.params, doseq=True)}" if ask.params else ""
        answer = self.http.request(method, path + query, content=content, headers=headers)
        self.asked[f"tool {ask.body['params']['name']}" if ask.operation == MCP else ask.operation] += 1
        if answer.status_code >= REFUSED:
            self.refused[answer.status_code] += 1
        assert answer.status_code < FAULT, (ask, answer.text)
        return Answer(answer.status_code, answer.text, dict(answer.headers))


def check_marks(model: Model, key: Key | None, ask: Ask, answer: Answer, shows: set[str]) -> None:
    """Hold an answer against what its asker may see: that, what stands in the request itself, and what `shows` adds."""
    text = "\n".join((answer.text, *(value for name, value in answer.headers.items() if name not in _PASSING)))
    known = marks_in(text) | {each.prefix for each in (*model.keys, *model.gone_keys) if each.prefix in text}
    seen = (model.words(key) if key else set()) | shows | marks_in(ask.text)
    leaked = {mark for mark in known - seen if mark not in ask.text}
    assert not leaked, (leaked, key, ask, answer)
    for each in (*model.keys, *model.gone_keys):
        assert each.token[-52:] not in text, (ask, answer)
