"""The tools that change what is known. Nothing they do is beyond their owner's `recollect undo`."""

from typing import Annotated, Any, Final

from mcp_types import CallToolResult

from recollect.core.errors import Refused
from recollect.core.memory import LinkKind
from recollect.mcp import parameters as given
from recollect.mcp.asking import UNDO, FindAsker
from recollect.mcp.refusals import refusing
from recollect.mcp.results import DeleteResult, KeptResult, LinkResult
from recollect.mcp.showing import Showing
from recollect.mcp.wording import answer, word_deleted, word_kept, word_link
from recollect.service.recollect import HERE, Recollect

NO_PROJECT: Final = "*"
_EFFECTS: Final[dict[LinkKind, str]] = {
    "supersedes": "recalls now serve the first in place of the second.",
    "resolved-by": "recalls of the first now bring the second along.",
    "part-of": "each now points to the other by its heading.",
    "see-also": "each now points to the other by its heading.",
}


class Writing:
    def __init__(self, find_asker: FindAsker, undo: str = UNDO) -> None:
        self._find_asker = find_asker
        self._undo = undo

    @refusing
    def memory_store(
        self,
        *,
        content: given.Content,
        category: given.Category = "facts",
        tags: given.Tags | None = None,
        keywords: given.Keywords | None = None,
        importance: given.Importance = 0.5,
        project: given.Home = HERE,
        general: given.General = False,
        session: given.Session | None = None,
        place: given.Place | None = None,
        sensitive: given.Sensitive = False,
        id: given.ClientId | None = None,  # noqa: A002 - the field's name
    ) -> Annotated[CallToolResult, KeptResult]:
        recollect = self._find_asker().open("write")
        memory = recollect.remember(
            content,
            category=category,
            tags=tags or (),
            keywords=keywords or (),
            importance=importance,
            project=_home(recollect, NO_PROJECT if general else project),
            session=session or None,
            place=place,
            sensitive=sensitive,
            id=id or None,
        )
        result = Showing(recollect).kept(memory)
        return answer(result, word_kept(result, "Stored"))

    @refusing
    def memory_update(
        self,
        *,
        id: given.Handle,  # noqa: A002 - the field's name
        content: given.NewContent = "",
        category: given.Category | None = None,
        tags: given.Tags | None = None,
        keywords: given.Keywords | None = None,
        importance: given.Importance | None = None,
        project: given.Home | None = None,
        session: given.Session | None = None,
        place: given.Place | None = None,
        sensitive: given.NewSensitive | None = None,
        version: given.Version | None = None,
    ) -> Annotated[CallToolResult, KeptResult]:
        recollect = self._find_asker().open("write")
        if sensitive is False and recollect.get(id).sensitive:
            raise Refused(
                "Only its owner can make a sensitive memory readable to agents, in a terminal: `recollect edit`."
            )
        asked: dict[str, Any] = {
            "content": content or None,
            "category": category,
            "tags": None if tags is None else tuple(tags),
            "keywords": None if keywords is None else tuple(keywords),
            "importance": importance,
            "session": session,
            "place": place,
            # `False` is never passed on: its owner may be marking the memory at this very moment.
            "sensitive": sensitive or None,
        }
        changes = {name: value for name, value in asked.items() if value is not None}
        if project is not None:
            changes["project"] = _home(recollect, project)
        if not changes and sensitive is None:
            raise Refused("There is nothing to change: give the new content or another field.")
        result = Showing(recollect).kept(recollect.edit(id, version=version, **changes))
        return answer(result, word_kept(result, "Updated"))

    @refusing
    def memory_delete(self, *, id: given.Handle) -> Annotated[CallToolResult, DeleteResult]:  # noqa: A002 - the field's name
        recollect = self._find_asker().open("write")
        result = Showing(recollect).deleted(recollect.forget(id), self._undo)
        return answer(result, word_deleted(result))

    @refusing
    def memory_link(
        self, *, source: given.Source, kind: given.Kind, target: given.Target
    ) -> Annotated[CallToolResult, LinkResult]:
        link = self._find_asker().open("write").link(source, kind, target)
        result: LinkResult = {
            "source": link.source,
            "kind": link.kind,
            "target": link.target,
            "effect": _EFFECTS[link.kind],
        }
        return answer(result, word_link(result))


def _home(recollect: Recollect, project: str) -> str | None:
    """Read the project that a memory belongs to; an empty name is one not given."""
    if project == NO_PROJECT:
        return None
    return recollect.project if project in {"", HERE} else project
