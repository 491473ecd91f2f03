"""Memories and links come and go, one at a time and by the file, here and where one may not."""

import json
from dataclasses import replace
from typing import Any

from recollect.core.access import Deed
from recollect.core.memory import LINK_KINDS, Memory
from recollect.core.record import from_history, to_record
from walls.asking import Ask
from walls.permitted import Key, Space
from walls.play import MISSING, Play, deed
from walls.scene import COMMON_WORDS

CONFLICT = 409
MOST_EXPORTS = 4
HEADER = '{"recollect":"export","format":1}'
TIME = "2026-01-01T00:00:00.000000Z"


class MemoryRules(Play):
    @deed
    def keep(self) -> None:
        key = self.actor()
        name = self.somewhere(key)
        space, refusal = self.judge(key, "write", name)
        identity = self.some_id(None) if self.chance(4) else self.model.marks.identity()
        body = {"id": identity, "space": name, **self._text()}
        ok = CONFLICT if space and identity in space.memories else 201
        answer = self.put(key, Ask("POST /v1/memories", body=body), refusal, ok, guessed=self.unseen(key, name))
        if answer and space:
            self.note_visit(key, space)
            (kept,) = self.learn(space, identity)
            assert (kept.content, answer.data["space"]) == (body["content"], space.name)

    @deed
    def change(self) -> None:
        key, name, space, refusal, identity = self._aim("write")
        states = space.memories.get(identity, []) if space else []
        body = self._text()
        ok = self._if_live(states)
        if self.chance(3):
            body["version"] = len(states) + self.random.randint(0, 1) or 1
            ok = CONFLICT if ok == 200 and body["version"] != len(states) else ok
        ask = Ask("PATCH /v1/memories/{memory_id}", {"memory_id": self.handle(identity)}, _in(name), body)
        if self.put(key, ask, refusal, ok, guessed=self._hidden(key, name, space, ask)) and space:
            self.note_visit(key, space)
            after = self.learn(space, identity)
            assert after[:-1] == states
            assert after[-1].content == body["content"]

    @deed
    def forget(self) -> None:
        key, name, space, refusal, identity = self._aim("write")
        states = space.memories.get(identity, []) if space else []
        ask = Ask("DELETE /v1/memories/{memory_id}", {"memory_id": self.handle(identity)}, _in(name))
        hidden = self._hidden(key, name, space, ask)
        if self.put(key, ask, refusal, self._if_live(states), guessed=hidden) and space:
            self.note_visit(key, space)
            after = self.learn(space, identity)
            assert (after[:-1], after[-1].action) == (states, "forgotten")

    @deed
    def purge(self) -> None:
        key = self.actor()
        name = self.somewhere(key)
        space, refusal = self.judge(key, "administer", name, walls="write")
        identity = self.some_id(space)
        path = {"memory_id": self.handle(identity)}
        ask = Ask("DELETE /v1/memories/{memory_id}", path, {**_in(name), "purge": "true"})
        ok = 204 if space and identity in space.memories else MISSING
        if self.put(key, ask, refusal, ok, guessed=self._hidden(key, name, space, ask)) and space:
            self.note_visit(key, space)
            assert not self.learn(space, identity)
            space.links = {link for link in space.links if identity not in link}

    @deed
    def restore(self) -> None:
        key, name, space, refusal, identity = self._aim("write")
        states = space.memories.get(identity, []) if space else []
        ok = MISSING if not states else CONFLICT if states[-1].deleted_at is None else 200
        if ok == 200 and all(state.deleted_at for state in states):
            ok = CONFLICT
        ask = Ask("POST /v1/memories/{memory_id}/restore", {"memory_id": self.handle(identity)}, _in(name))
        if self.put(key, ask, refusal, ok, guessed=self._hidden(key, name, space, ask)) and space:
            self.note_visit(key, space)
            after = self.learn(space, identity)
            assert (after[:-1], after[-1].deleted_at) == (states, None)

    @deed
    def link(self) -> None:
        key, name, space, refusal, source = self._aim("write")
        target = self.some_id(space)
        body = {"space": name, "source": source, "kind": self.choose(LINK_KINDS), "target": target}
        here = space.memories if space else {}
        ok = MISSING
        if source in here and target in here:
            ok = 422 if source == target else max(self._if_live(here[source]), self._if_live(here[target]))
        missing = next((each for each in (source, target) if each not in here), None)
        guessed = self.unseen(key, name) or (missing if space else None)
        if self.put(key, Ask("POST /v1/links", body=body), refusal, ok, guessed=guessed) and space:
            self.note_visit(key, space)
            self.learn_links(space)
            assert (source, body["kind"], target) in space.links

    @deed
    def unlink(self) -> None:
        key, name, space, refusal, source = self._aim("write")
        held = sorted(space.links) if space else []
        link = self.choose([*held * 2, (source, self.choose(LINK_KINDS), self.some_id(space))])
        ask = Ask(
            "DELETE /v1/links", params={**_in(name), **dict(zip(("source", "kind", "target"), link, strict=True))}
        )
        ok = 200 if link in held else MISSING
        if self.put(key, ask, refusal, ok, guessed=self.unseen(key, name)) and space:
            self.note_visit(key, space)
            self.learn_links(space)
            assert link not in space.links

    @deed
    def take_out(self) -> None:
        """See that an export is all of its space with every state, and nothing else."""
        key = self.actor()
        name = self.somewhere(key)
        space, refusal = self.judge(key, "administer", name, walls="read")
        shows = space.words(secrets=True) if space else ()
        ask = Ask("GET /v1/export", params=_in(name))
        answer = self.put(key, ask, refusal, guessed=self.unseen(key, name), shows=shows)
        if answer is None or space is None:
            return
        self.note_visit(key, space)
        lines = [json.loads(line) for line in answer.text.splitlines()[1:]]
        histories = [line["states"] for line in lines if line["type"] == "memory"]
        assert {states[0]["id"]: states for states in histories} == {
            identity: [to_record(state) for state in states] for identity, states in space.memories.items()
        }
        self.exports = [*self.exports, answer.text][-MOST_EXPORTS:]

    @deed
    def take_in(self) -> None:
        """See that an import goes into the one space that one may write to, whatever spaces and ids its lines name."""
        key = self.actor()
        name = self.somewhere(key)
        space, refusal = self.judge(key, "write", name)
        text = self.choose([self._invent_lines(space), *self.exports])
        dry_run = self.chance(4)
        ask = Ask("POST /v1/import", params={**_in(name), "dry_run": str(dry_run).lower()}, content=text)
        answer = self.put(key, ask, refusal, guessed=self.unseen(key, name))
        if answer is None or space is None:
            return
        lines = [json.loads(line) for line in text.splitlines()[1:]]
        given = [from_history(line) for line in lines if line["type"] == "memory"]
        expected = {"added": 0, "updated": 0, "unchanged": 0, "conflict": 0}
        after = dict(space.memories)
        for states in given:
            result, merged = _merge(space, after.get(states[0].id, []), states)
            expected[result] += 1
            after[states[0].id] = merged
        assert {each: answer.data[each] for each in ("added", "updated", "unchanged")} == {
            each: expected[each] for each in ("added", "updated", "unchanged")
        }
        if not dry_run:
            self.note_visit(key, space)
            for states in given:
                assert self.learn(space, states[0].id) == after[states[0].id]
            self.learn_links(space)

    def _invent_lines(self, space: Space | None) -> str:
        """Give an export that names spaces and memories of anybody."""
        lines = [HEADER]
        ids = [self.some_id(space) for _ in range(self.random.randint(1, 2))]
        for identity in dict.fromkeys(ids):
            state = {"id": identity, "space": self.choose(self.model.spaces), **self._text()}
            lines.append(json.dumps({"type": "memory", "states": [{**state, "created_at": TIME, "updated_at": TIME}]}))
        link = {"space": self.choose(self.model.spaces), "source": ids[0], "kind": "see-also"}
        link |= {"target": self.some_id(None), "created_at": TIME}
        return "\n".join([*lines, json.dumps({"type": "link", **link})])

    def _text(self) -> dict[str, Any]:
        """Give something to remember that is told from everything else."""
        marks = self.model.marks
        in_session = self.chance()
        return {
            "content": f"{marks.name('wo')} stands in the {COMMON_WORDS}.",
            "tags": [marks.name("ta")],
            "project": marks.name("pr") if self.chance(3) else None,
            # The same in all spaces: what was said next to it is not to be found there.
            "session": "shared" if in_session else None,
            "place": self.random.randint(0, 9) if in_session else None,
            "sensitive": self.chance(5),
        }

    def _aim(self, deed: Deed) -> tuple[Key, str | None, Space | None, int | None, str]:
        """Choose who does something to which memory of which space, and say whether they may."""
        key = self.actor()
        name = self.somewhere(key)
        space, refusal = self.judge(key, deed, name)
        return key, name, space, refusal, self.some_id(space)

    def _hidden(self, key: Key, name: str | None, space: Space | None, ask: Ask) -> str | None:
        """Give the name in a request of what the asker may not see: the space, or the memory."""
        if space is None:
            return self.unseen(key, name)
        handle = ask.path["memory_id"]
        return None if any(identity.endswith(handle) for identity in space.memories) else handle

    def _if_live(self, states: list[Memory]) -> int:
        return 200 if states and states[-1].deleted_at is None else MISSING


def _in(name: str | None) -> dict[str, str]:
    return {} if name is None else {"space": name}


def _merge(space: Space, here: list[Memory], given: list[Memory]) -> tuple[str, list[Memory]]:
    """Say what an import does to one memory: one past has to be the beginning of the other."""
    states = [replace(state, space=space.name) for state in given]
    if not here:
        return "added", states
    common = min(len(here), len(states))
    if here[:common] != states[:common]:
        return "conflict", here
    return ("updated", states) if len(states) > len(here) else ("unchanged", here)
