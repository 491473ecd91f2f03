"""Memories, their past and their links, as they come and go."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from recollect.api import examples
from recollect.api.schemas.fields import Answer, Body, Handle, Id, Label, Labels, Name, Place
from recollect.core.memory import LARGEST_PLACE, Action, LinkKind

Content = Annotated[str, Field(min_length=1, description="The text; its first line is its heading.")]
Importance = Annotated[float, Field(ge=0, le=1, description="0 to 1; 0.5 is ordinary.")]
Project = Annotated[Place | None, Field(description="The project it belongs to; null holds everywhere.")]
Session = Annotated[Place | None, Field(description="The conversation it comes from.")]
InSession = Annotated[int | None, Field(ge=0, le=LARGEST_PLACE, description="Its place in that session, from 0.")]
Sensitive = Annotated[
    bool, Field(description="A password, a key, a private matter: answers hold a placeholder in place of its text.")
]


class NewMemory(Body):
    """One self-contained thing worth knowing."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": examples.NEW,
                    "space": examples.CREW,
                    "content": "The staging database is rebuilt every Monday at 06:00 UTC.",
                    "category": "facts",
                    "tags": ["staging"],
                    "importance": 0.6,
                    "project": examples.PROJECT,
                },
                {"content": "Ada prefers short commit messages.", "category": "preferences"},
            ]
        }
    )

    id: Id | None = Field(
        default=None,
        description="A UUID of your own (version 7 is best). With one, storing is safe to repeat: the same id and body "
        "again gives the memory that is there, the same id with another body is a conflict.",
    )
    space: Name | None = Field(default=None, description="Where it goes; your own space if you leave it out.")
    content: Content
    category: Label = Field(default="facts", description="facts, preferences, decisions, projects, people or your own.")
    tags: Labels = Field(default=[], description="A few labels to group by.")
    keywords: Labels = Field(default=[], description="Words that a search may use and the text lacks.")
    importance: Importance = 0.5
    project: Project = None
    session: Session = None
    place: InSession = None
    sensitive: Sensitive = False


def _show_no_defaults(schema: dict[str, Any]) -> None:
    """Leave the defaults out of the documentation: what is not given is not changed."""
    for each in schema["properties"].values():
        each.pop("default", None)
    schema["examples"] = [{"importance": 0.9, "tags": ["deploy"], "version": 1}]


class Change(Body):
    """What is to be otherwise. What is left out stays as it is."""

    model_config = ConfigDict(json_schema_extra=_show_no_defaults)

    content: Content = ""
    category: Label = ""
    tags: Labels = Field(default=[], description="All of them: those before are replaced.")
    keywords: Labels = Field(default=[], description="All of them: those before are replaced.")
    importance: Importance = 0.5
    project: Project = None
    session: Session = None
    place: InSession = None
    sensitive: Sensitive = False
    version: int | None = Field(
        default=None, ge=1, description="Refuse if it is no longer at this version. `If-Match` says the same."
    )


class MemoryAnswer(Answer):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.MEMORY]})

    id: str
    space: str
    content: str = Field(description="Of a sensitive memory a placeholder, unless it is revealed.")
    created_at: str
    updated_at: str = Field(description="Since when it is as it is.")
    category: str
    tags: list[str]
    keywords: list[str]
    importance: float
    project: str | None
    session: str | None
    place: int | None
    sensitive: bool
    version: int
    action: Action = Field(description="What led to this state.")
    deleted_at: str | None = Field(description="When it was forgotten.")


class PageAnswer(Answer):
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"memories": [examples.MEMORY], "next": "AZLwwXpOfDGObwwdLj9KWw"}]}
    )

    memories: list[MemoryAnswer]
    next: str | None = Field(description="What `cursor` takes for the following page; null on the last.")


class StateAnswer(MemoryAnswer):
    model_config = ConfigDict(json_schema_extra={"examples": [{**examples.MEMORY, "until": None}]})

    until: str | None = Field(description="Until when it was so; null for the present state.")


class HistoryAnswer(Answer):
    model_config = ConfigDict(json_schema_extra={"examples": [{"states": [{**examples.MEMORY, "until": None}]}]})

    states: list[StateAnswer] = Field(description="Oldest first, the present one last.")


Kind = Annotated[
    LinkKind,
    Field(
        description="supersedes: source is served in place of target. resolved-by: target comes attached to source. "
        "part-of, see-also: each points to the other."
    ),
]


class NewLink(Body):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "space": examples.CREW,
                    "source": examples.TUESDAYS,
                    "kind": "supersedes",
                    "target": examples.FRIDAYS,
                }
            ]
        }
    )

    space: Name | None = Field(default=None, description="The space of both; your own if you leave it out.")
    source: Handle
    kind: Kind
    target: Handle


class LinkAnswer(Answer):
    model_config = ConfigDict(json_schema_extra={"examples": [examples.LINK]})

    space: str
    source: str
    kind: Literal["supersedes", "resolved-by", "part-of", "see-also"]
    target: str
    created_at: str
    ended_at: str | None


class LinksAnswer(Answer):
    model_config = ConfigDict(json_schema_extra={"examples": [{"links": [examples.LINK]}]})

    links: list[LinkAnswer]
