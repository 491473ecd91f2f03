"""`/v1/me`, `/v1/people`, `/v1/spaces`, `/v1/keys`: who there is, who may what, and with which key."""

import pytest

from recollect.api import examples
from serving import Client, World

BAD_TOKENS = [
    "",
    "Bearer",
    "Bearer ",
    "Basic abc",
    "Bearer rk_",
    "Bearer rk_aaaaaaaaaaaa_",
    f"Bearer rk_{'a' * 12}_{'a' * 52}",
]


def test_who_am_i(ada: Client, ben: Client) -> None:
    """A key says whom it acts for, and what it may do where."""
    me = ada.ok("GET", "/v1/me")
    assert (me["person"], me["scope"], me["runs_server"], me["own"]) == ("ada", "admin", True, "ada")
    assert {space["id"]: space["may"] for space in ben.ok("GET", "/v1/me")["spaces"]} == {
        "ben": ["read", "write", "administer"],
        "crew": ["read", "write"],
    }


@pytest.mark.parametrize("header", BAD_TOKENS)
def test_without_a_key_that_holds_nothing_is_answered(ada: Client, header: str) -> None:
    """Whatever is wrong with a key, the answer is 401 in the same words, also to a request that does not fit."""
    headers = {"Authorization": header}
    first = ada.refused("GET", "/v1/me", 401, headers=headers)
    assert first == ada.refused("POST", "/v1/recall", 401, headers=headers, json={"nonsense": True})
    assert first == ada.refused("GET", "/v1/memories/!", 401, headers=headers)
    assert first == ada.refused("POST", "/v1/import", 401, headers=headers)
    assert ada.ask("GET", "/v1/me", headers=headers).headers["www-authenticate"].startswith("Bearer")


def test_a_key_with_one_wrong_letter_is_no_key(ada: Client, world: World) -> None:
    """The secret counts, not the prefix."""
    token = world.tokens["ada"]
    wrong = token[:-1] + ("a" if token[-1] != "a" else "b")
    ada.refused("GET", "/v1/me", 401, headers={"Authorization": f"Bearer {wrong}"})


def test_people_come_and_go(ada: Client, ben: Client) -> None:
    """Who runs the server adds and removes people; others do not, and see only those they share a space with."""
    assert ada.ok("POST", "/v1/people", 201, json={"id": "cara"})["admin"] is False
    ada.refused("POST", "/v1/people", 409, json={"id": "cara"})
    assert [person["id"] for person in ada.ok("GET", "/v1/people")["people"]] == ["ada", "ben", "cara"]
    assert [person["id"] for person in ben.ok("GET", "/v1/people")["people"]] == ["ada", "ben"]
    ben.refused("POST", "/v1/people", 403, json={"id": "dora"})
    ben.refused("DELETE", "/v1/people/cara", 403)
    ada.ok("DELETE", "/v1/people/cara", 204)
    ada.refused("DELETE", "/v1/people/cara", 404)
    ada.refused("POST", "/v1/people", 422, json={"id": "No Good/Name"})


def test_spaces_and_their_members(ada: Client, ben: Client) -> None:
    """Whoever makes a space administers it, lets others in, and removes it with all that is in it."""
    made = ben.ok("POST", "/v1/spaces", 201, json={"id": "night-shift"})
    assert (made["owner"], made["role"], made["memories"]) == (None, "admin", 0)
    ben.refused("POST", "/v1/spaces", 409, json={"id": "night-shift"})
    ben.keep("The night shift has coffee.", space="night-shift")
    assert ben.ok("GET", "/v1/spaces/night-shift")["memories"] == 1
    ada.refused("GET", "/v1/spaces/night-shift/members", 404)
    path = "/v1/spaces/night-shift/members/ada"
    assert ben.ok("PUT", path, json={"role": "reader"}) == {"person": "ada", "role": "reader"}
    assert len(ada.recall("coffee", spaces=["night-shift"])) == 1
    ada.refused("PUT", "/v1/spaces/night-shift/members/ben", 403, json={"role": "reader"})
    ada.refused("DELETE", "/v1/spaces/night-shift", 403)
    members = ben.ok("GET", "/v1/spaces/night-shift/members")["members"]
    assert members == [{"person": "ada", "role": "reader"}, {"person": "ben", "role": "admin"}]
    ben.refused("PUT", "/v1/spaces/night-shift/members/ben", 409, json={"role": "reader"})
    ben.refused("DELETE", "/v1/spaces/night-shift/members/ben", 409)
    ben.refused("PUT", path, 422, json={"role": "owner"})
    ada.ok("DELETE", path, 204)
    ada.refused("POST", "/v1/recall", 404, json={"query": "coffee", "spaces": ["night-shift"]})
    ben.ok("DELETE", "/v1/spaces/night-shift", 204)
    ben.refused("GET", "/v1/spaces/night-shift", 404)


def test_what_one_may_not_see_is_as_good_as_not_there(ada: Client, ben: Client) -> None:
    """A space of others and one that is not there are answered in the same words, whatever is asked of them."""
    secret = ada.keep("Ada's own.")
    asks = [
        ("GET", f"/v1/memories/{secret}", {"params": {"space": "SPACE"}}),
        ("GET", "/v1/memories", {"params": {"space": "SPACE"}}),
        ("POST", "/v1/memories", {"json": {"content": "x", "space": "SPACE"}}),
        ("PATCH", f"/v1/memories/{secret}", {"json": {"importance": 1}, "params": {"space": "SPACE"}}),
        ("DELETE", f"/v1/memories/{secret}", {"params": {"space": "SPACE"}}),
        ("DELETE", f"/v1/memories/{secret}", {"params": {"space": "SPACE", "purge": True}}),
        ("POST", f"/v1/memories/{secret}/restore", {"params": {"space": "SPACE"}}),
        ("GET", f"/v1/memories/{secret}/history", {"params": {"space": "SPACE"}}),
        ("POST", "/v1/recall", {"json": {"query": "x", "spaces": ["ben", "SPACE"]}}),
        ("POST", "/v1/why-not", {"json": {"query": "x", "spaces": ["SPACE"], "id": secret}}),
        ("GET", "/v1/links", {"params": {"space": "SPACE", "memory": secret}}),
        ("POST", "/v1/links", {"json": {"space": "SPACE", "source": secret, "kind": "see-also", "target": secret}}),
        ("DELETE", "/v1/links", {"params": {"space": "SPACE", "source": secret, "kind": "see-also", "target": secret}}),
        ("GET", "/v1/export", {"params": {"space": "SPACE"}}),
        ("POST", "/v1/import", {"params": {"space": "SPACE"}, "content": b"{}"}),
        ("GET", "/v1/settings", {"params": {"space": "SPACE"}}),
        ("PATCH", "/v1/settings", {"params": {"space": "SPACE"}, "json": {"limit": 3}}),
        ("GET", "/v1/spaces/SPACE", {}),
        ("GET", "/v1/spaces/SPACE/members", {}),
        ("GET", "/v1/spaces/SPACE/audit", {}),
        ("PUT", "/v1/spaces/SPACE/members/ben", {"json": {"role": "admin"}}),
        ("DELETE", "/v1/spaces/SPACE/members/ben", {}),
        ("DELETE", "/v1/spaces/SPACE", {}),
    ]
    for method, path, more in asks:
        said = []
        for space in ("ada", "nobody"):
            named = eval(repr(more).replace("SPACE", space))  # noqa: S307 - of this very test
            problem = ben.refused(method, path.replace("SPACE", space), 404, **named)
            said.append(str(problem).replace(space, "SPACE"))
        assert said[0] == said[1], (method, path)
    # In one's own space the id of somebody else's memory is no id at all.
    assert "There is no memory" in ben.refused("GET", f"/v1/memories/{secret}", 404)["detail"]


def test_keys_are_made_used_and_revoked(ada: Client, ben: Client) -> None:
    """A new key's token is shown once, does no more than its scope and spaces, and ends when it is revoked."""
    body = {"name": "ci", "scope": "read", "spaces": [examples.CREW]}
    answer = ada.ask("POST", "/v1/keys", json=body)
    assert (answer.status_code, answer.headers["cache-control"]) == (201, "no-store")
    made = answer.json()
    token = made.pop("token")
    assert token.startswith(f"rk_{made['prefix']}_")
    assert made in ada.ok("GET", "/v1/keys")["keys"]
    assert token not in ada.ask("GET", "/v1/keys").text
    ci = Client(ada.http, {"Authorization": f"Bearer {token}"})
    assert [space["id"] for space in ci.ok("GET", "/v1/me")["spaces"]] == [examples.CREW]
    assert ci.recall("anything", spaces=[examples.CREW]) == []
    ci.refused("POST", "/v1/recall", 404, json={"query": "anything"})
    ci.refused("POST", "/v1/memories", 403, json={"content": "x", "space": examples.CREW})
    ci.refused("POST", "/v1/keys", 403, json=body)
    ci.refused("POST", "/v1/spaces", 403, json={"id": "mine"})
    ben.refused("DELETE", f"/v1/keys/{made['prefix']}", 404)
    assert ada.ok("DELETE", f"/v1/keys/{made['prefix']}")["revoked_at"]
    ci.refused("GET", "/v1/me", 401)
    ada.refused("POST", "/v1/keys", 422, json={**body, "expires_at": "2020-01-01T00:00:00Z"})
    ada.refused("POST", "/v1/keys", 422, json={**body, "spaces": []})
    ada.refused("POST", "/v1/keys", 422, json={**body, "scope": "everything"})


def test_the_log_says_who_did_what(ada: Client, ben: Client, world: World) -> None:
    """Writes and reads of a space stand in its log, newest first, for who administers it."""
    identity = ben.keep("Deploys run on Tuesdays.", space=examples.CREW)
    ben.recall("deploys", spaces=[examples.CREW])
    ben.ok("PATCH", f"/v1/memories/{identity}", params={"space": examples.CREW}, json={"importance": 1})
    world.flush_log()
    path = f"/v1/spaces/{examples.CREW}/audit"
    entries = ada.ok("GET", path)["entries"]
    assert {entry["person"] for entry in entries} == {"ben"}
    assert all(entry["memories"] == [identity] for entry in entries)
    assert "recall" in {entry["deed"] for entry in entries}
    assert len(entries) == 3
    assert ada.ok("GET", path, params={"before": entries[-1]["at"]})["entries"] == []
    assert ada.ok("GET", path, params={"limit": 1})["entries"] == entries[:1]
    ben.refused("GET", path, 403)
