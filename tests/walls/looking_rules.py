"""Everything that only looks: what is shown is what there is for that key, and every count counts no more than that."""

import base64
from typing import Any

from recollect.core.access import DEEDS
from recollect.core.query import DEFAULT_LIMIT
from recollect.service.embed import embed_waiting
from walls.asking import Ask
from walls.permitted import Key, Space, marks_in
from walls.play import FORBIDDEN, MISSING, UNAUTHORISED, Play, deed, deeds, names_of
from walls.scene import COMMON_WORDS, MODELS

LONG_AGO = "2000-01-01T00:00:00Z"


class LookingRules(Play):
    def __init__(self) -> None:
        super().__init__()
        self.limits: dict[str, int] = {}
        """The setting `limit` where it was set, by scope."""

    @deeds(3)
    def look_at_memory(self) -> None:
        how = self.choose(["read", "reveal", "long ago", "history", "links"])
        key = self.actor()
        name = self.somewhere(key)
        space, refusal = self.judge(key, "write" if how == "reveal" else "read", name, walls="read")
        identity = self.some_id(space)
        handle = self.handle(identity)
        params = {} if name is None else {"space": name}
        if how == "links":
            ask = Ask("GET /v1/links", params={**params, "memory": handle})
        elif how == "history":
            ask = Ask("GET /v1/memories/{memory_id}/history", {"memory_id": handle}, params)
        else:
            more = {"reveal": {"reveal": "true"}, "long ago": {"as_of": LONG_AGO}}.get(how, {})
            ask = Ask("GET /v1/memories/{memory_id}", {"memory_id": handle}, {**params, **more})
        here = space is not None and identity in space.memories
        shows = space.words(secrets=True) if space and how == "reveal" else ()
        guessed = self.unseen(key, name) if space is None else None if here else handle
        ok = 200 if here and how != "long ago" else MISSING
        answer = self.put(key, ask, refusal, ok, guessed=guessed, shows=shows)
        self.note_visit(key, space)
        if answer is None or space is None:
            return
        if how == "history":
            assert len(answer.data["states"]) == len(space.memories[identity])
        elif how == "links":
            found = {(link["source"], link["kind"], link["target"]) for link in answer.data["links"]}
            assert found == {link for link in space.links if identity in link}
        else:
            assert (answer.data["id"], answer.data["version"]) == (identity, len(space.memories[identity]))

    @deed
    def page(self) -> None:
        key = self.actor()
        name = self.somewhere(key)
        space, refusal = self.judge(key, "read", name)
        params: dict[str, Any] = {"limit": self.choose([1000, 1])} | ({} if name is None else {"space": name})
        after = self.some_id(space) if self.chance() else None
        if after is not None:
            params["cursor"] = base64.urlsafe_b64encode(bytes.fromhex(after.replace("-", ""))).decode().rstrip("=")
        ok = 422 if space and after is not None and after not in space.memories else 200
        answer = self.put(key, Ask("GET /v1/memories", params=params), refusal, ok, guessed=self.unseen(key, name))
        self.note_visit(key, space)
        if answer and space:
            found = names_of(answer, "memories")
            assert set(found) <= space.live.keys()
            if params["limit"] == 1000 and after is None:
                assert set(found) == space.live.keys()
            if answer.data["next"]:
                octets = base64.urlsafe_b64decode(answer.data["next"] + "==")
                assert octets.hex() == found[-1].replace("-", "")

    @deed
    def recall(self) -> None:
        explain = self.chance()
        key, names, spaces, refusal = self._several()
        everywhere = [memory.content for space in self.model.spaces.values() for memory in space.live.values()]
        wanted = self.choose([COMMON_WORDS, *everywhere])
        query = wanted.removesuffix(f" stands in the {COMMON_WORDS}.")
        excluded = [self.some_id(None) for _ in range(self.random.randint(0, 2))]
        body = {"query": query, "spaces": names, "limit": 1000, "explain": explain, "exclude": excluded}
        guessed = next(filter(None, (self.unseen(key, name) for name in names)), None)
        answer = self.put(key, Ask("POST /v1/recall", body=body), refusal, guessed=guessed)
        self.note_visit(key, *spaces)
        if answer is None:
            return
        found = [(each["space"], each["id"]) for each in answer.data["results"]]
        there = {(space.name, identity) for space in spaces for identity in space.live}
        assert set(found) <= {(space, identity) for space, identity in there if identity not in excluded}
        assert len(found) + sum(answer.data["left_out"].values()) <= len(there)
        for space in spaces:
            for identity, memory in space.live.items():
                replaced = any(link[1:] == ("supersedes", identity) for link in space.links)
                if memory.content == wanted and not replaced and identity not in excluded and not memory.sensitive:
                    assert (space.name, identity) in found

    @deed
    def why_not(self) -> None:
        key, names, spaces, refusal = self._several()
        identity = self.some_id(spaces[0] if spaces else None)
        handle = self.handle(identity)
        body = {"query": COMMON_WORDS, "spaces": names, "id": handle}
        holding = [space for space in spaces if identity in space.memories]
        ok = (MISSING, 200, 409)[min(2, len(holding))]
        guessed = next(filter(None, (self.unseen(key, name) for name in names)), None)
        guessed = guessed if refusal else None if holding else handle
        answer = self.put(key, Ask("POST /v1/why-not", body=body), refusal, ok, guessed=guessed)
        self.note_visit(key, *spaces)
        if answer:
            assert answer.data["id"] == identity

    def _several(self) -> tuple[Key, list[str], list[Space], int | None]:
        """Choose who asks in which spaces, and say whether they may in all of them."""
        key = self.actor()
        chosen = {self.somewhere(key): None for _ in range(self.random.randint(1, 3))}
        names = [name for name in chosen if name is not None]
        judged = [self.judge(key, "read", name) for name in names] or [self.judge(key, "read", None)]
        refusal = next((refusal for _, refusal in judged if refusal), None)
        return key, names, [space for space, _ in judged if space], refusal

    @deeds(2)
    def look_around(self) -> None:
        """See that the lists of spaces, people and keys are those of the key that asks, and so is what it may."""
        key = self.actor()
        what = self.choose(["me", "spaces", "people", "keys", "vector-sets"])
        answer = self.put(key, Ask(f"GET /v1/{what}"), None if key.holds else UNAUTHORISED)
        if answer is None:
            return
        reach, model = self.model.reach(key), self.model
        if what == "me":
            assert (answer.data["person"], answer.data["own"]) == (key.person, model.own(key))
            if not model.walls_alone:
                assert answer.data["runs_server"] == model.runs_server(key)
                may = {each["id"]: each["may"] for each in answer.data["spaces"]}
                assert may == {name: [deed for deed in DEEDS if model.may(key, deed, reach[name])] for name in reach}
        elif what == "spaces":
            shown = {each["id"]: (each["owner"], each["memories"], each["role"]) for each in answer.data["spaces"]}
            assert shown == {
                name: (space.owner, len(space.live), space.roles[key.person]) for name, space in reach.items()
            }
        elif what == "people":
            assert set(names_of(answer, "people")) == model.visible_people(key)
        elif what == "keys":
            numbers = {space.number: name for name, space in reach.items()}
            limited = {each["prefix"]: each["spaces"] for each in answer.data["keys"]}
            assert limited == {
                each.prefix: None if each.spaces is None else sorted(numbers[n] for n in each.spaces if n in numbers)
                for each in model.visible_keys(key)
            }
        else:
            self._check_sets(answer.data["vector_sets"], list(reach.values()))

    def _check_sets(self, shown: list[dict[str, Any]], spaces: list[Space]) -> None:
        assert {each["model"]: each["active"] for each in shown} == self.sets
        most = sum(not memory.sensitive for space in spaces for memory in space.live.values())
        for each in shown:
            assert max(each["vectors"], each["waiting"]) <= most <= each["vectors"] + each["waiting"]

    @deeds(2)
    def look_at_space(self) -> None:
        what = self.choose(["", "/members", "/audit"])
        key = self.actor()
        name = self.somewhere(key) or key.person
        space, refusal = self.judge(key, "administer" if what == "/audit" else "read", name)
        self.flush_log()
        ask = Ask(f"GET /v1/spaces/{{space}}{what}", {"space": name}, {"limit": 1000} if what == "/audit" else {})
        shows = space.logged if space and what == "/audit" else ()
        answer = self.put(key, ask, refusal, guessed=self.unseen(key, name), shows=shows)
        if answer is None or space is None:
            return
        if what == "/members":
            assert {each["person"]: each["role"] for each in answer.data["members"]} == space.roles
        elif what == "/audit":
            for each in answer.data["entries"]:
                named = {each["person"], each["key"], *(identity[-8:] for identity in each["memories"])}
                assert named <= space.logged, (each, space.logged)
        else:
            assert (answer.data["memories"], answer.data["role"]) == (len(space.live), space.roles[key.person])

    @deed
    def change_settings(self) -> None:
        limit = self.choose([None, 1, 7, 50])
        key = self.actor()
        name = self.somewhere(key)
        if name is None:
            scope, refusal = "server", None if self.model.runs_server(key) else FORBIDDEN
            refusal = refusal if key.holds else UNAUTHORISED
        else:
            space, refusal = self.judge(key, "administer", name)
            scope = space.scope if space else ""
        params = {} if name is None else {"space": name}
        ask = Ask("PATCH /v1/settings", params=params, body={"limit": limit})
        guessed = name and self.unseen(key, name)
        if self.put(key, ask, refusal, guessed=guessed):
            self.touched.add(scope)
            self.limits.pop(scope, None)
            if limit is not None:
                self.limits[scope] = limit

    @deed
    def look_at_settings(self) -> None:
        key = self.actor()
        name = self.somewhere(key)
        space, refusal = (None, None if key.holds else UNAUTHORISED) if name is None else self.judge(key, "read", name)
        ask = Ask("GET /v1/settings", params={} if name is None else {"space": name})
        answer = self.put(key, ask, refusal, guessed=name and self.unseen(key, name))
        if answer:
            everywhere = self.limits.get("server", DEFAULT_LIMIT)
            expected = self.limits.get(space.scope, everywhere) if space else everywhere
            assert answer.data["settings"]["limit"]["value"] == expected

    @deeds(2)
    def change_vector_sets(self) -> None:
        how, model = self.choose(["begin", "switch", "drop"]), self.choose(MODELS)
        key = self.actor()
        if self.stage.gullible and not self.model.runs_server(key):
            # What belongs to nobody's space is behind no wall but the program's own.
            return
        refusal = None if self.model.runs_server(key) else FORBIDDEN
        refusal = refusal if key.holds else UNAUTHORISED
        known = model in self.sets
        if how == "begin":
            done = self.put(key, Ask("POST /v1/vector-sets", body={"model": model}), refusal)
        elif how == "switch":
            ok = 200 if known else MISSING
            done = self.put(key, Ask("PUT /v1/vector-sets/active", body={"model": model}), refusal, ok)
        else:
            ok = MISSING if not known else 422 if self.sets[model] else 204
            done = self.put(key, Ask("DELETE /v1/vector-sets", params={"model": model}), refusal, ok)
        if done is None:
            return
        self.touched |= {"server", *(space.scope for space in self.model.spaces.values())}
        if how == "begin":
            self.sets.setdefault(model, False)
        elif how == "switch":
            self.sets = {each: each == model for each in self.sets}
        else:
            del self.sets[model]

    @deed
    def embed(self) -> None:
        """Have a worker embed all that waits."""
        for model in self.sets:
            embed_waiting(self.store, self.server.gates.open(model))
        self.touched |= {"server", *(space.scope for space in self.model.spaces.values())}

    @deeds(2)
    def look_from_outside(self) -> None:
        """Without a key, or with one put together from those of others, there is nothing of anybody to be seen."""
        ask = Ask(self.choose(["GET /healthz", "GET /readyz", "GET /metrics"]))
        answer = self.stage.send(ask, None)
        assert (answer.status, marks_in(answer.text)) == (200, set())
        one, two = self.actor(), self.actor()
        forged = f"rk_{one.prefix}_{two.token[-52:]}"
        refused = self.stage.send(Ask("GET /v1/me"), forged if one is not two else forged[:-1])
        unknown = self.stage.send(Ask("GET /v1/me"), f"rk_{'z' * 12}_{'z' * 52}")
        assert refused.status == UNAUTHORISED
        assert refused.without("") == unknown.without("")

    @deed
    def be_watched(self) -> None:
        """From now on what somebody is shown must not change by what others do elsewhere."""
        self.watch(self.choose([key for key in self.model.keys if key.holds] or self.model.keys))
