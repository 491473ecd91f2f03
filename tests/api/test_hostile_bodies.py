"""Bodies and addresses that nobody would write who means well: a problem is answered, never a fault of the server's."""

import json
from collections.abc import Iterator

import pytest

from api.attacking import EXPORT, TAKES_BODY, Target, open_target, status_of

NESTED = b"[" * 50_000
STRANGE = {
    "nothing": b"",
    "no JSON": b"{content: 'x'}",
    "cut off": b'{"content": "x"',
    "a list": b"[]",
    "null": b"null",
    "a number": b"7",
    "half a character": b'{"content": "\xc3"}',
    "latin-1": b'{"content": "caf\xe9"}',
    "utf-16": '{"content": "x", "query": "x"}'.encode("utf-16"),
    "a byte order mark": b'\xef\xbb\xbf{"content": "x", "query": "x"}',
    "half a surrogate pair": rb'{"content": "\ud800", "query": "\ud800", "id": "\udfff", "name": "\ud800"}',
    "a zero": rb'{"content": "\u0000", "query": "\u0000", "model": "\u0000", "name": "\u0000", "scope": "read"}',
    "nested": NESTED,
    "nested objects": b'{"x":' * 50_000,
    "not a number": b'{"content": "x", "query": "x", "importance": NaN, "weight.dense": NaN, "limit": NaN}',
    "infinity": b'{"content": "x", "query": "x", "importance": Infinity, "weight.dense": -Infinity, "limit": 1e999}',
    "a long number": b'{"content": "x", "query": "x", "place": ' + b"9" * 5000 + b', "limit": ' + b"9" * 5000 + b"}",
    "twice": b'{"content": "x", "content": 7, "query": "x", "query": 7, "model": "a", "model": 7}',
    "many names": json.dumps({str(number): number for number in range(5000)}).encode(),
    "a prototype": b'{"__proto__": {"admin": true}, "constructor": 1, "content": "x", "query": "x"}',
}


@pytest.fixture(scope="module")
def target(postgres_url: str, template_database: str) -> Iterator[Target]:
    with open_target(postgres_url, template_database) as opened:
        yield opened


@pytest.mark.parametrize(("method", "path"), TAKES_BODY)
def test_strange_bodies(target: Target, method: str, path: str) -> None:
    """What is no JSON, or JSON that nobody would write, is refused as a problem wherever a body is taken."""
    with target.client() as admin:
        for name, body in STRANGE.items():
            answer = admin.ask(method, path, content=body, headers={"Content-Type": "application/json"})
            assert 400 <= answer.status_code < 500, (name, answer.text)
            if path != "/mcp":
                assert answer.headers["content-type"] == "application/problem+json", name


@pytest.mark.parametrize(
    "kind", ["", "text/plain", "application/xml", "multipart/form-data; boundary=x", "x", "a/b;" * 99]
)
def test_strange_kinds_of_body(target: Target, kind: str) -> None:
    """A body that is said to be something else than JSON is refused."""
    with target.client() as admin:
        for method, path in TAKES_BODY:
            answer = admin.ask(method, path, content=b'{"content": "x", "query": "x"}', headers={"Content-Type": kind})
            assert 400 <= answer.status_code < 500, (path, answer.text)


def test_strange_imports(target: Target) -> None:
    """A first line that is none is refused; a strange line is reported by its number, and the rest taken in."""
    with target.client() as admin:
        for name, body in STRANGE.items():
            admin.refused("POST", "/v1/import", 422, content=body)
            lines = EXPORT + body + b'\n{"type":"memory","states":[{}]}'
            outcome = admin.ok("POST", "/v1/import", content=lines)
            assert any(problem.startswith("line 3") for problem in outcome["problems"]), name
            assert (outcome["added"], outcome["updated"]) == (0, 0)


def test_times_that_are_numbers(target: Target) -> None:
    """A number does not pass for a time, which it would be read as in seconds or in milliseconds."""
    with target.client() as admin:
        for moment in (0, 1.5, True, "0", "1e9", "nan"):
            admin.refused("POST", "/v1/recall", 422, json={"query": "x", "as_of": moment})
            admin.refused("GET", "/v1/spaces/admin/audit", 422, params={"before": str(moment)})


def test_strange_addresses(target: Target) -> None:
    """Ids and names that try to be something else lead nowhere, and neither do requests that are none."""
    strange = (
        "/v1/memories/../../etc/passwd", "/v1/memories/..%2f..%2fetc%2fpasswd", "/v1/memories/%00", "/v1/memories/%ff",
        "/v1/memories/%252e%252e", "/v1/memories/'; DROP TABLE memories; --".replace(" ", "%20"), "/v1/memories/*",
        "/v1/spaces/admin/../../people", "/v1/spaces/%2e%2e/members", "/v1/spaces/admin%00/audit", "//v1/me", "/v1//me",
        "/v1/memories?cursor=%00", "/v1/memories?space=%00", "/v1/memories?session=%00", "/v1/memories?limit=1e9",
        "/v1/vector-sets?model=%00", "/v1/links?memory=%00%00%00%00", "/v1/keys/%F0%9F%92%A9", "http://other/v1/me",
        "*", "/docs/../../", "/v1/memories?" + "&".join(f"category=c{number}" for number in range(2000)),
    )  # fmt: skip
    for path in strange:
        for method in ("GET", "DELETE", "BREW"):
            answer = target.say(target.head(method, path, "Connection: close", "Content-Length: 0"))
            ignored = method == "GET" and path.startswith(("/v1/memories?category", "/v1/vector-sets"))
            assert 400 <= status_of(answer) < 500 or ignored, (method, path, answer)
            assert b"Traceback" not in answer
