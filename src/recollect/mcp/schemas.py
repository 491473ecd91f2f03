"""JSON schemas as Pydantic writes them in, the same in fewer words out: every session pays for them."""

from collections.abc import Mapping
from typing import Any, Final

_NULL: Final = {"type": "null"}


def shorten(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Drop titles, which repeat the names, and null and empty defaults, which say that a thing may be left out."""
    short: dict[str, Any] = {}
    for key, value in schema.items():
        if (key == "title" and isinstance(value, str)) or (key == "default" and value in {None, ""}):
            continue
        if key in {"properties", "$defs"}:
            short[key] = {name: shorten(each) for name, each in value.items()}
        elif key == "anyOf" and _NULL in value:
            (only,) = (arm for arm in value if arm != _NULL)
            short |= shorten(only)
        else:
            short[key] = shorten(value) if isinstance(value, dict) else value
    return short


def may_be_null(parameters: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(name for name, each in parameters["properties"].items() if _NULL in each.get("anyOf", ()))
