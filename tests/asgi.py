"""Puts requests to an ASGI application, without a network between."""

import asyncio
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any

from recollect.api.exchange import App


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes


def ask(app: App, method: str, target: str, headers: dict[str, str] | None = None, body: bytes = b"") -> Reply:
    """Have an application answer one request; what it raises is raised."""
    return asyncio.run(_ask(app, method, target, headers or {}, body))


async def _ask(app: App, method: str, target: str, headers: dict[str, str], body: bytes) -> Reply:
    path, _, query = target.partition("?")
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    start: MutableMapping[str, Any] = sent[0] if sent else {"status": 0, "headers": ()}
    return Reply(
        start["status"],
        {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in start["headers"]},
        b"".join(message.get("body", b"") for message in sent),
    )
