"""`/v1/memories`: kept, read, listed, changed, forgotten, brought back."""

from datetime import UTC, datetime

import pytest

from recollect.api import examples
from serving import Client, World

SECRET = "The vault's code is swordfish."  # noqa: S105 - the point of the test


def test_a_memory_is_kept_and_read(ada: Client) -> None:
    """What was stored comes back as it was given, with its id, its times and its version."""
    given = {
        "content": "Deploys run on Tuesdays.\nAna approves them.",
        "category": "decisions",
        "tags": ["deploy"],
        "keywords": ["release"],
        "importance": 0.8,
        "project": "github.com/acme/shop",
        "session": "s1",
        "place": 3,
    }
    answer = ada.ask("POST", "/v1/memories", json=given)
    assert answer.status_code == 201
    assert answer.headers["etag"] == '"1"'
    kept = answer.json()
    assert kept | given == kept
    assert (kept["space"], kept["version"], kept["action"], kept["deleted_at"]) == ("ada", 1, "remembered", None)
    assert ada.ok("GET", f"/v1/memories/{kept['id']}") == kept
    assert ada.ok("GET", f"/v1/memories/{kept['id'][-8:]}") == kept


def test_storing_is_safe_to_repeat(ada: Client) -> None:
    """The same id and body gives what is there, also after it was changed; another body is a conflict."""
    given = {"id": examples.NEW, "content": "Staging is rebuilt on Mondays.", "tags": ["staging"]}
    first = ada.ok("POST", "/v1/memories", 201, json=given)
    assert ada.ok("POST", "/v1/memories", 200, json=given) == first
    changed = ada.ok("PATCH", f"/v1/memories/{examples.NEW}", json={"importance": 0.9})
    assert ada.ok("POST", "/v1/memories", 200, json=given) == changed
    problem = ada.refused("POST", "/v1/memories", 409, json={**given, "content": "Staging is gone."})
    assert problem["type"] == "urn:recollect:conflict"
    assert "Staging" not in problem["detail"]
    # The same id in another space is another memory.
    assert ada.ok("POST", "/v1/memories", 201, json={**given, "space": examples.CREW})["space"] == examples.CREW


def test_a_forgotten_memory_is_not_stored_over(ada: Client) -> None:
    """Storing again what was forgotten says how to bring it back."""
    given = {"id": examples.NEW, "content": "Staging is rebuilt on Mondays."}
    ada.ok("POST", "/v1/memories", 201, json=given)
    ada.ok("DELETE", f"/v1/memories/{examples.NEW}")
    assert "/restore`" in ada.refused("POST", "/v1/memories", 409, json=given)["detail"]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "body.content"),
        ({"content": ""}, "body.content"),
        ({"content": "x", "importance": 2}, "body.importance"),
        ({"content": "x", "importance": "high swordfish"}, "body.importance"),
        ({"content": "x", "place": -1}, "body.place"),
        ({"content": "x", "place": 1.5}, "body.place"),
        ({"content": "x", "id": "not an id"}, "body.id"),
        ({"content": "x", "tags": "swordfish"}, "body.tags"),
        ({"content": "x", "tag": ["swordfish"]}, "body.tag"),
        ({"content": ["swordfish"]}, "body.content"),
        ({"content": "x", "sensitive": "yes"}, "body.sensitive"),
        ({"content": "x", "category": "a\0b"}, "body.category"),
    ],
)
def test_what_does_not_fit_is_named_and_not_repeated(ada: Client, body: dict[str, object], named: str) -> None:
    """A body that is not as documented is refused by the name of what is wrong, without its value."""
    problem = ada.refused("POST", "/v1/memories", 422, json=body)
    assert problem["type"] == "urn:recollect:invalid"
    assert named in {wrong["where"] for wrong in problem["errors"]}
    assert "swordfish" not in str(problem)


@pytest.mark.parametrize("content", ["   ", "a\0b", "x" * 1401, "half \ud800 of a pair"])
def test_what_cannot_be_kept_is_refused(ada: Client, content: str) -> None:
    """Text that no store could give back unchanged, or that is too long, is refused with what to do."""
    body = b'{"content": "half \\ud800 of a pair"}' if "\ud800" in content else None
    if body is None:
        problem = ada.refused("POST", "/v1/memories", 422, json={"content": content})
    else:
        headers = {"Content-Type": "application/json"}
        problem = ada.refused("POST", "/v1/memories", 422, content=body, headers=headers)
    assert problem["detail"]


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 422), (b'{"content": "\xff"}', 400), (b"[" * 100_000, 400), (b'"text"', 422), (b"", 422)],
)
def test_what_is_no_json_is_refused(ada: Client, body: bytes, status: int) -> None:
    """A body that is broken, not UTF-8, nested without end or no object is the client's fault, never ours."""
    ada.refused("POST", "/v1/memories", status, content=body, headers={"Content-Type": "application/json"})


def test_changes_keep_the_past(ada: Client) -> None:
    """Only what is given changes, null clears what may be empty, and every state stays readable."""
    identity = ada.keep("Deploys run on Fridays.", project="shop", session="s1", place=1, tags=["deploy"])
    before = datetime.now(UTC).isoformat()
    changed = ada.ok("PATCH", f"/v1/memories/{identity}", json={"content": "Deploys run on Tuesdays.", "project": None})
    assert (changed["content"], changed["project"], changed["tags"]) == ("Deploys run on Tuesdays.", None, ["deploy"])
    assert (changed["version"], changed["action"]) == (2, "edited")
    then = ada.ok("GET", f"/v1/memories/{identity}", params={"as_of": before})
    assert then["content"] == "Deploys run on Fridays."
    states = ada.ok("GET", f"/v1/memories/{identity}/history")["states"]
    assert [state["version"] for state in states] == [1, 2]
    assert [state["until"] is None for state in states] == [False, True]
    for bad in ({"content": None}, {"version": 0}, {"id": examples.NEW}, {"space": "crew"}):
        ada.refused("PATCH", f"/v1/memories/{identity}", 422, json=bad)
    assert ada.ok("PATCH", f"/v1/memories/{identity}", json={}) == changed


def test_a_version_check_refuses_what_changed_meanwhile(ada: Client) -> None:
    """A version in the body or in `If-Match` that no longer holds is a conflict; without one nothing is checked."""
    identity = ada.keep("One.")
    path = f"/v1/memories/{identity}"
    assert ada.ok("PATCH", path, json={"content": "Two.", "version": 1})["version"] == 2
    assert "version 2" in ada.refused("PATCH", path, 409, json={"content": "Three.", "version": 1})["detail"]
    ada.refused("PATCH", path, 409, json={"content": "Three."}, headers={"If-Match": '"1"'})
    assert ada.ok("PATCH", path, json={"content": "Three."}, headers={"If-Match": '"2"'})["version"] == 3
    assert ada.ok("PATCH", path, json={"content": "Four."}, headers={"If-Match": "*"})["version"] == 4
    assert ada.ok("PATCH", path, json={"content": "Five."})["version"] == 5
    ada.refused("PATCH", path, 422, json={"content": "Six."}, headers={"If-Match": "five"})
    ada.refused("PATCH", path, 422, json={"content": "Six.", "version": 4}, headers={"If-Match": '"5"'})


def test_forgetting_restoring_purging(ada: Client) -> None:
    """A forgotten memory is found by no recall and can be brought back; a purged one is gone."""
    identity = ada.keep("The puffin cluster has nine nodes.")
    path = f"/v1/memories/{identity}"
    ada.refused("POST", f"{path}/restore", 409)
    assert ada.ok("DELETE", path)["deleted_at"]
    assert ada.recall("puffin cluster") == []
    assert ada.ok("GET", path)["action"] == "forgotten"
    assert "/restore`" in ada.refused("DELETE", path, 404)["detail"]
    ada.refused("PATCH", path, 404, json={"importance": 1})
    restored = ada.ok("POST", f"{path}/restore")
    assert (restored["action"], restored["deleted_at"]) == ("restored", None)
    assert [found["id"] for found in ada.recall("puffin cluster")] == [identity]
    assert ada.ok("DELETE", path, 204, params={"purge": True}) is None
    for method, end in (("GET", ""), ("GET", "/history"), ("DELETE", ""), ("POST", "/restore")):
        ada.refused(method, f"{path}{end}", 404)


def test_purging_needs_to_administer(world: World, ben: Client, ada: Client) -> None:
    """A writer forgets but does not purge, nor does an admin with a key of a lesser scope."""
    identity = ada.keep("Shared.", space=examples.CREW)
    asked = {"space": examples.CREW, "purge": True}
    ben.refused("DELETE", f"/v1/memories/{identity}", 403, params=asked)
    world.add_key(examples.ADA, "write", "ada-writes")
    writes = Client(ada.http, world.headers("ada-writes"))
    writes.refused("DELETE", f"/v1/memories/{identity}", 403, params=asked)
    assert ben.ok("DELETE", f"/v1/memories/{identity}", params={"space": examples.CREW})["action"] == "forgotten"


def test_pages_go_on_where_the_last_one_ended(ada: Client) -> None:
    """Every memory is on exactly one page, newest first; filters narrow; a cursor of nothing is refused."""
    kept = [ada.keep(f"Note {number}.", category="facts" if number % 2 else "people") for number in range(7)]
    found: list[str] = []
    cursor: str | None = None
    while True:
        parameters = {"limit": 3, **({"cursor": cursor} if cursor else {})}
        page = ada.ok("GET", "/v1/memories", params=parameters)
        found += [memory["id"] for memory in page["memories"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert found == kept[::-1]
    some = ada.ok("GET", "/v1/memories", params={"category": ["facts"]})
    assert [memory["id"] for memory in some["memories"]] == kept[1::2][::-1]
    assert ada.ok("GET", "/v1/memories", params={"session": "none"}) == {"memories": [], "next": None}
    ada.refused("GET", "/v1/memories", 422, params={"cursor": "AAAAAAAAAAAAAAAAAAAAAA"})
    ada.refused("GET", "/v1/memories", 422, params={"cursor": "!"})
    ada.refused("GET", "/v1/memories", 422, params={"limit": 0})


def test_a_sensitive_memory_shows_a_placeholder(ada: Client) -> None:
    """No answer holds its text or its labels, whatever is done with it, nor does that of what is linked to it."""
    given = {"content": SECRET, "tags": ["swordfish"], "keywords": ["swordfish"], "sensitive": True}
    answers = [ada.ask("POST", "/v1/memories", json=given)]
    identity = answers[0].json()["id"]
    plain = ada.keep("The vault is in the cellar.")
    ada.ok("POST", "/v1/links", json={"source": plain, "kind": "resolved-by", "target": identity})
    ada.ok("POST", "/v1/links", json={"source": plain, "kind": "see-also", "target": identity})
    path = f"/v1/memories/{identity}"
    query = {"query": "vault swordfish", "explain": True}
    answers += [
        ada.ask("GET", path),
        ada.ask("GET", "/v1/memories"),
        ada.ask("POST", "/v1/recall", json=query),
        ada.ask("POST", "/v1/recall", json={"query": "cellar", "explain": True}),
        ada.ask("POST", "/v1/why-not", json={"query": "swordfish elsewhere", "id": identity, "limit": 1}),
        ada.ask("POST", "/v1/why-not", json={"query": "cellar", "id": identity}),
        ada.ask("PATCH", path, json={"importance": 0.9}),
        ada.ask("GET", f"{path}/history"),
        ada.ask("DELETE", path),
        ada.ask("POST", f"{path}/restore"),
        ada.ask("POST", "/v1/memories", json={**given, "content": f"{SECRET}{'x' * 1400}"}),
    ]
    assert [answer.status_code for answer in answers[:-1]] == [201, *[200] * 10]
    for answer in answers:
        assert "swordfish" not in answer.text
    assert f"[sensitive memory {identity}" in answers[1].text


def test_what_was_sensitive_is_hidden_in_its_past(ada: Client) -> None:
    """Marking a memory hides what it said before, to who looks back and in its history."""
    identity = ada.keep(SECRET)
    before = datetime.now(UTC).isoformat()
    path = f"/v1/memories/{identity}"
    ada.ok("PATCH", path, json={"sensitive": True})
    ada.ok("PATCH", path, json={"sensitive": False, "content": "The vault has a code."})
    for answer in (
        ada.ask("GET", path, params={"as_of": before}),
        ada.ask("GET", f"{path}/history"),
        ada.ask("POST", "/v1/recall", json={"query": "vault", "as_of": before, "explain": True}),
    ):
        assert answer.status_code == 200
        assert "swordfish" not in answer.text
        assert identity in answer.text
    assert ada.ok("GET", path)["content"] == "The vault has a code."


def test_revealing_is_for_who_may_write_and_is_logged(ada: Client, ben: Client, world: World) -> None:
    """`reveal` shows a sensitive text to a writer, is refused to a reader, and stands in the log."""
    identity = ada.keep(SECRET, space=examples.CREW, sensitive=True)
    asked = {"space": examples.CREW, "reveal": True}
    assert ben.ok("GET", f"/v1/memories/{identity}", params=asked)["content"] == SECRET
    world.server.open_directory(None).set_member(examples.CREW, examples.BEN, "reader")
    ben.refused("GET", f"/v1/memories/{identity}", 403, params=asked)
    assert "swordfish" not in ben.ask("GET", f"/v1/memories/{identity}", params={"space": examples.CREW}).text
    world.flush_log()
    entries = ada.ok("GET", f"/v1/spaces/{examples.CREW}/audit")["entries"]
    assert [(entry["person"], entry["deed"], entry["memories"]) for entry in entries if entry["person"] == "ben"] == [
        ("ben", "read", [identity]),
        ("ben", "reveal", [identity]),
    ]


def test_an_id_that_fits_several_is_a_conflict(ada: Client) -> None:
    """A short id that two memories end in is refused, and names them."""
    for start in ("0192f0c4", "0192f0c5"):
        ada.ok("POST", "/v1/memories", 201, json={"id": f"{start}{examples.NEW[8:]}", "content": "Twin."})
    problem = ada.refused("GET", f"/v1/memories/{examples.NEW[-8:]}", 409)
    assert problem["type"] == "urn:recollect:ambiguous"
    ada.refused("GET", "/v1/memories/abc", 422)
    ada.refused("GET", "/v1/memories/xyzxyz", 422)
