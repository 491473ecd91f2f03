"""Answers as they go over the wire: plain data in, a response out, with no model in between.

What is answered is made here from values that were checked when they came in; checking them again would take longer
than some recalls do. The tests hold every answer against its documented schema.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import Response
from pydantic_core import to_json


def respond(data: object, status: int = HTTPStatus.OK, headers: Mapping[str, str] | None = None) -> Response:
    return Response(to_json(data), status, headers, "application/json")


def nothing() -> Response:
    return Response(status_code=HTTPStatus.NO_CONTENT)


def versioned(record: dict[str, Any], status: int = HTTPStatus.OK) -> Response:
    """Answer with a memory, and with its version as `If-Match` takes it."""
    return respond(record, status, {"ETag": f'"{record["version"]}"'})
