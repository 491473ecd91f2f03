"""`/v1/export` and `/v1/import`: a whole space out and in, as a stream."""

import json
from collections.abc import Iterator

import pytest

from recollect.api import examples
from recollect.api.limits import Limits
from recollect.api.transfer import split_lines
from recollect.core.errors import Refused
from serving import Client, World, in_process, populate_memories


def export(client: Client, space: str) -> list[str]:
    answer = client.ask("GET", "/v1/export", params={"space": space})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    return answer.text.splitlines()


def take_in(client: Client, space: str, lines: list[str], **more: object) -> dict[str, object]:
    body = "".join(f"{line}\n" for line in lines).encode()
    outcome: dict[str, object] = client.ok("POST", "/v1/import", params={"space": space, **more}, content=body)
    return outcome


def test_a_space_goes_out_and_into_another(ada: Client) -> None:
    """All memories with their past and their links arrive in the space that is named, whatever their lines say."""
    populate_memories(ada)
    secret = ada.keep("The code is swordfish.", space=examples.CREW, sensitive=True)
    ada.keep("Ada's own, which is not exported.")
    lines = export(ada, examples.CREW)
    assert json.loads(lines[0]) == {"recollect": "export", "format": 1}
    assert len(lines) == 1 + 5 + 2
    assert "swordfish" in "".join(lines)
    assert "not exported" not in "".join(lines)
    expected = {
        "dry_run": True,
        "added": 5,
        "updated": 0,
        "unchanged": 0,
        "links": 2,
        "problems": [],
        "more_problems": 0,
    }
    assert take_in(ada, examples.OLD_TEAM, lines, dry_run=True) == expected
    assert export(ada, examples.OLD_TEAM) == lines[:1]
    assert take_in(ada, examples.OLD_TEAM, lines) == {**expected, "dry_run": False}
    again = {**expected, "dry_run": False, "added": 0, "unchanged": 5, "links": 0}
    assert take_in(ada, examples.OLD_TEAM, lines) == again
    copied = [
        line.replace(f'"space":"{examples.OLD_TEAM}"', f'"space":"{examples.CREW}"')
        for line in export(ada, examples.OLD_TEAM)
    ]
    assert copied == lines
    (found,) = ada.recall("deploys fridays", spaces=[examples.OLD_TEAM], limit=1)
    assert (found["id"], found["instead_of"]) == (examples.TUESDAYS, [examples.FRIDAYS])
    assert "swordfish" not in ada.ask("GET", f"/v1/memories/{secret}", params={"space": examples.OLD_TEAM}).text


def test_exports_are_for_who_administers_and_are_logged(ada: Client, ben: Client, world: World) -> None:
    """A writer imports but does not export, and the log holds what left."""
    identity = ben.keep("Shared.", space=examples.CREW)
    ben.refused("GET", "/v1/export", 403, params={"space": examples.CREW})
    lines = export(ada, examples.CREW)
    assert take_in(ben, examples.CREW, lines)["unchanged"] == 1
    world.server.open_directory(None).set_member(examples.CREW, examples.BEN, "reader")
    ben.refused("POST", "/v1/import", 403, params={"space": examples.CREW}, content=lines[0].encode())
    world.flush_log()
    entries = ada.ok("GET", f"/v1/spaces/{examples.CREW}/audit")["entries"]
    assert [(entry["deed"], entry["memories"]) for entry in entries if entry["deed"] == "export"] == [
        ("export", [identity])
    ]


def test_what_cannot_be_taken_in_is_reported_by_its_line(ada: Client) -> None:
    """A bad line costs only itself, also one that is not UTF-8; what is no export at all is refused."""
    identity = ada.keep("Deploys run on Tuesdays.")
    header, memory = export(ada, "ada")
    other = memory.replace(identity, examples.NEW)
    lines = [header, "not json", "[]", '{"type":"song"}', memory.replace("Tuesdays", "Fridays"), other]
    outcome = take_in(ada, "ada", lines)
    assert outcome["added"] == 1
    problems = outcome["problems"]
    assert isinstance(problems, list)
    assert [problem.partition(":")[0] for problem in problems] == ["line 2", "line 3", "line 4", "line 5"]
    spoilt = memory.replace(identity, examples.FRIDAYS).encode().replace(b"Tuesdays", b"Tues\xffdays")
    outcome = ada.ok("POST", "/v1/import", content=header.encode() + b"\n" + spoilt)
    assert (outcome["added"], len(outcome["problems"])) == (0, 1)
    for body in (b"", b"nonsense", b'{"recollect": "export", "format": 99}'):
        ada.refused("POST", "/v1/import", 422, content=body)


def test_only_so_many_problems_are_told(ada: Client) -> None:
    """An import of nothing but rubbish is answered in a readable length."""
    lines = ['{"recollect":"export","format":1}', *["rubbish " * 100] * 150]
    outcome = take_in(ada, "ada", lines)
    problems = outcome["problems"]
    assert isinstance(problems, list)
    assert (len(problems), outcome["more_problems"]) == (100, 50)


def test_an_import_may_be_longer_than_a_body(world: World) -> None:
    """A stream is not held to the limit of bodies, but each of its lines to one of its own."""
    limits = Limits(requests_per_second=0, recalls_at_once=0, body_bytes=1024, line_bytes=4096)
    with in_process(world.server, limits) as http:
        ada = Client(http, world.headers("ada"))
        identity = ada.keep("Deploys run on Tuesdays.")
        header, memory = export(ada, "ada")
        many = [memory.replace(identity, f"{number:08x}{identity[8:]}") for number in range(450)]

        def stream(lines: list[str]) -> Iterator[bytes]:
            for line in (header, *lines):
                yield f"{line}\n".encode()

        outcome = ada.ok("POST", "/v1/import", content=stream(many), params={"space": examples.CREW})
        assert outcome["added"] == 450
        ada.refused("POST", "/v1/import", 422, content=stream(["x" * 5000]))
        assert len(export(ada, examples.CREW)) == 451


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_lines_are_cut_the_same_from_any_pieces(size: int) -> None:
    """However a stream is cut on its way, the same lines come out; one too long is refused before its end."""
    text = "one\ntwo\n\nthree äöü\nlast"
    octets = text.encode()
    pieces = [octets[start : start + size] for start in range(0, len(octets), size)]
    assert list(split_lines(pieces, 20)) == text.split("\n")
    assert list(split_lines([*pieces, b"\n"], 20)) == text.split("\n")

    def endless() -> Iterator[bytes]:
        while True:
            yield b"x" * size

    with pytest.raises(Refused, match="at most 20 bytes"):
        list(split_lines(endless(), 20))
