"""What an agent does over MCP with somebody's key: the same walls."""

from typing import Any

from recollect.core.access import Deed
from recollect.core.memory import LINK_KINDS
from walls.asking import tool
from walls.permitted import Space
from walls.play import Play, deeds
from walls.scene import COMMON_WORDS

LOOKING = ("memory_recall", "memory_get", "memory_list", "memory_why_not", "memory_stats")
CHANGING = ("memory_store", "memory_update", "memory_delete", "memory_link")


class ToolRules(Play):
    @deeds(3)
    def look_by_tool(self) -> None:
        name = self.choose(LOOKING)
        key, space, where, refusal = self._aim_tool("read")
        identity = self.some_id(space)
        here = space is not None and identity in space.memories
        arguments: dict[str, Any] = {}
        works = True
        if name == "memory_recall":
            arguments = {"query": COMMON_WORDS, "limit": 1000, "explain": self.chance(), "exclude": [identity]}
        elif name == "memory_list":
            arguments = {"limit": 1000} | ({"after": identity} if self.chance() else {})
            works = here or "after" not in arguments
        elif name != "memory_stats":
            arguments = {"id": self.handle(identity)} | ({"query": COMMON_WORDS} if name == "memory_why_not" else {})
            works = here
        guessed = self.unseen(key, where) if space is None else None if works else str(arguments.get("id", identity))
        result = self.call(key, tool(name, where, **arguments), refusal, works=works, guessed=guessed)
        self.note_visit(key, space)
        if result is None or space is None:
            return
        if name == "memory_stats":
            assert (result["memories"], result["links"]) == (len(space.live), len(space.links))
            assert result["forgotten"] == len(space.memories) - len(space.live)
            assert result["sensitive"] == sum(memory.sensitive for memory in space.live.values())
        elif name in {"memory_recall", "memory_list"}:
            assert {each["id"] for each in result["memories"]} <= space.live.keys()
            if arguments == {"limit": 1000}:
                assert {each["id"] for each in result["memories"]} == space.live.keys()
        else:
            assert result["id"] == identity

    @deeds(2)
    def change_by_tool(self) -> None:
        name = self.choose(CHANGING)
        key, space, where, refusal = self._aim_tool("write")
        identity = self.some_id(space)
        states = space.memories.get(identity, []) if space else []
        live = bool(states) and states[-1].deleted_at is None
        content = f"{self.model.marks.name('wo')} stands in the {COMMON_WORDS}."
        target = ""
        if name == "memory_store":
            arguments: dict[str, Any] = {"content": content, "id": identity}
            works = not states
        elif name == "memory_update":
            arguments, works = {"id": self.handle(identity), "content": content}, live
        elif name == "memory_delete":
            arguments, works = {"id": self.handle(identity)}, live
        else:
            target = self.some_id(space)
            arguments = {"source": identity, "kind": self.choose(LINK_KINDS), "target": target}
            works = live and space is not None and target in space.live and target != identity
        hidden = arguments.get("id") if space and not states and name != "memory_store" else None
        guessed = self.unseen(key, where) or hidden
        result = self.call(key, tool(name, where, **arguments), refusal, works=works, guessed=guessed)
        if result is None or space is None:
            return
        self.note_visit(key, space)
        if name == "memory_link":
            self.learn_links(space)
            assert (identity, arguments["kind"], target) in space.links
            return
        after = self.learn(space, identity)
        assert after[:-1] == states
        assert after[-1].content == content or name == "memory_delete"

    def _aim_tool(self, deed: Deed) -> tuple[Any, Space | None, str | None, int | None]:
        key = self.actor()
        where = self.somewhere(key)
        space, refusal = self.judge(key, deed, where)
        return key, space, where, refusal
