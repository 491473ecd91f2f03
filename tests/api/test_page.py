"""docs/api.md says what the server does: every address, every kind of problem, every limit."""

import re
from pathlib import Path

from recollect.api import problems
from recollect.api.connection import PatientProtocol
from recollect.api.limits import Limits
from serving import DOCUMENT

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")


def test_every_address_is_on_the_page() -> None:
    """The table of addresses has each path of the document, with each of its methods, and no other."""
    table = PAGE.partition("## What there is")[2].partition("##")[0]
    shown: set[tuple[str, str]] = set()
    for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE):
        for group in re.findall(r"((?:`(?:GET|POST|PUT|PATCH|DELETE)`, )*`(?:GET|POST|PUT|PATCH|DELETE) [^`]+`)", row):
            *others, last = re.findall(r"`([^`]+)`", group)
            method, path = last.split(" ")
            if path.startswith("…"):
                path = f"/v1/spaces/{{space}}{path[1:]}"
            shown |= {(each, path.replace("{id}", "{memory_id}")) for each in (*others, method)}
    known = {
        (method.upper(), path)
        for path, operations in DOCUMENT["paths"].items()
        for method in operations
        if path.startswith("/v1/")
    }
    assert shown == known


def test_every_problem_is_on_the_page() -> None:
    """Each kind of problem that the server answers with is in the table, at its status."""
    kinds = [kind for _, kind in problems.KINDS]
    kinds += [each for each in vars(problems).values() if isinstance(each, problems.Kind)]
    for kind in kinds:
        row = re.search(rf"^\| {kind.status} \|.*$", PAGE, re.MULTILINE)
        assert row, kind.status
        assert f"`{kind.name}`" in row[0], kind.name


def test_the_limits_are_on_the_page() -> None:
    """The defaults that the page names are those of the program."""
    limits = Limits()
    words = " ".join(PAGE.partition("## Limits")[2].partition("##")[0].split())
    assert f"{limits.requests_per_second:g} requests a second" in words
    assert f"{limits.burst} at once" in words
    assert f"{limits.recalls_at_once} recalls and {limits.imports_at_once} imports" in words
    assert f"{limits.body_bytes >> 20} MiB and {limits.body_seconds:g} seconds" in words
    assert f"{limits.line_bytes >> 20} MiB for a line" in words
    assert f"within {PatientProtocol.header_seconds:g} seconds" in words
