"""The OpenAPI document: its examples run against a server, and its answers fit the schemas that it gives."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from jsonschema_rs import Draft202012Validator

from recollect.api import examples
from recollect.core.settings import SETTINGS
from serving import DOCUMENT, Client, World, open_embedded, populate_memories

METHODS = ("get", "post", "put", "patch", "delete")
OPERATIONS = [
    pytest.param(method, path, DOCUMENT["paths"][path][method], id=f"{method} {path}")
    for path in DOCUMENT["paths"]
    for method in METHODS
    if method in DOCUMENT["paths"][path]
]


def validate(schema: dict[str, Any], value: object) -> None:
    """Hold a value against a schema of the document."""
    Draft202012Validator({**schema, "components": DOCUMENT["components"]}).validate(value)


def resolve(schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return DOCUMENT["components"]["schemas"][name] if name else schema


def bodies(operation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the bodies that the document shows for an operation, as a client sends them."""
    content = operation.get("requestBody", {}).get("content", {})
    if not content:
        yield {}
    for kind, media in content.items():
        if kind == "application/json":
            for example in resolve(media["schema"])["examples"]:
                validate(media["schema"], example)
                yield {"json": example}
        else:
            yield {"content": media["example"].encode()}


def address(path: str, operation: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Give the path and the query that the document shows."""
    query: dict[str, Any] = {}
    for parameter in operation.get("parameters", ()):
        shown = parameter.get("example") or next(iter(parameter["schema"].get("examples", ())), None)
        if shown is None:
            assert not parameter.get("required"), parameter["name"]
        elif parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", quote(shown, safe=""))
        elif parameter["in"] == "query":
            query[parameter["name"]] = shown
    return path, query


@pytest.fixture
def peopled(world: World) -> Iterator[TestClient]:
    with open_embedded(world.server) as client:
        ada = Client(client, world.headers(examples.ADA))
        populate_memories(ada)
        for model in (examples.MODEL, examples.OTHER_MODEL):
            ada.ok("POST", "/v1/vector-sets", json={"model": model})
        yield client


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_every_example_runs(
    world: World, peopled: TestClient, method: str, path: str, operation: dict[str, Any]
) -> None:
    """Each request that the document shows is answered as it says, in the shape that it says."""
    done = {status for status in operation["responses"] if status.startswith("2")}
    client = Client(peopled, world.headers(examples.ADA))
    target, query = address(path, operation)
    for body in bodies(operation):
        answer = client.ask(method, target, params=query, **body)
        assert str(answer.status_code) in done, answer.text
        media = operation["responses"][str(answer.status_code)].get("content", {})
        kind = answer.headers.get("content-type", "").partition(";")[0]
        assert bool(answer.content) == bool(media)
        if media:
            assert kind in media
        if kind == "application/json":
            validate(media[kind]["schema"], answer.json())


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_no_example_runs_without_a_key(ada: Client, method: str, path: str, operation: dict[str, Any]) -> None:
    """Whatever is asked under `/v1`, without a key that holds the answer is 401."""
    target, query = address(path, operation)
    for body in bodies(operation):
        answer = ada.ask(method, target, params=query, headers={"Authorization": "Bearer rk_nobody"}, **body)
        assert (answer.status_code == 401) == path.startswith("/v1/")


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_every_operation_is_documented(method: str, path: str, operation: dict[str, Any]) -> None:  # noqa: ARG001
    """Each has a summary, a tag, an example for its body and its answer, and problems for what can go wrong."""
    assert operation["summary"]
    assert operation["tags"]
    for status, response in operation["responses"].items():
        for kind, media in response.get("content", {}).items():
            if kind == "application/json":
                shown = resolve(media["schema"])["examples"]
                assert shown
                for example in shown:
                    validate(media["schema"], example)
            elif status.startswith("2"):
                assert kind in {"application/x-ndjson", "text/plain"}
            else:
                assert kind == "application/problem+json"
    if path.startswith("/v1/"):
        assert operation["security"] == [{"key": []}]
        assert {"401", "404", "422", "429", "503"} <= operation["responses"].keys()


def test_settings_are_documented_with_bounds_and_defaults() -> None:
    """Every weight is shown from 0 to 5 with its default, and k is not shown at all."""
    change = DOCUMENT["components"]["schemas"]["SettingsChange"]["properties"]
    assert change.keys() == SETTINGS.keys()
    for name in ("weight.lexical", "weight.dense", "weight.exact"):
        number = next(each for each in change[name]["anyOf"] if each["type"] == "number")
        assert (number["minimum"], number["maximum"]) == (0, 5)
        assert f"Default {SETTINGS[name].default}" in change[name]["description"]
    assert "rrf.k" not in str(DOCUMENT)


def test_the_document_explains_what_holds_everywhere() -> None:
    """Keys, idempotency, sensitive memories and problems are described once, for all operations."""
    assert DOCUMENT["openapi"].startswith("3.1")
    for word in ("Idempotency", "Sensitive memories", "Problems", "Keys"):
        assert f"**{word}.**" in DOCUMENT["info"]["description"]
    used = {tag for parameter in OPERATIONS for tag in parameter.values[2]["tags"]}  # type: ignore[index]
    assert used == {tag["name"] for tag in DOCUMENT["tags"]}
