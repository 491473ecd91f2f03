"""What the tools answer with, as typed data. What there is nothing to say about is left out: an agent pays for it."""

from typing import NotRequired

from typing_extensions import TypedDict  # below 3.12 Pydantic cannot read the one of `typing`


class Pointer(TypedDict):
    """Another memory by its heading; `how` reads from the memory it hangs on."""

    how: str
    id: str
    heading: str


class ShownMemory(TypedDict):
    id: str
    content: str
    category: str
    created: str
    age: str
    tags: NotRequired[list[str]]
    importance: NotRequired[float]
    """Left out where it is ordinary."""
    project: NotRequired[str]
    sensitive: NotRequired[bool]


class RecalledMemory(ShownMemory):
    score: float
    instead_of: NotRequired[list[str]]
    """Ids of superseded memories that it stands in for."""
    answers: NotRequired[list[ShownMemory]]
    pointers: NotRequired[list[Pointer]]
    explanation: NotRequired[list[str]]


class RecallResult(TypedDict):
    memories: list[RecalledMemory]
    left_out: NotRequired[dict[str, int]]
    """How many were found and not brought, by reason."""
    notices: NotRequired[list[str]]


class GetResult(ShownMemory):
    version: int
    updated: NotRequired[str]
    forgotten: NotRequired[str]
    keywords: NotRequired[list[str]]
    session: NotRequired[str]
    place: NotRequired[int]
    links: NotRequired[list[Pointer]]


class KeptResult(TypedDict):
    id: str
    version: int
    heading: str
    category: str
    project: NotRequired[str]
    sensitive: NotRequired[bool]


class DeleteResult(TypedDict):
    id: str
    heading: str
    undo: str
    """The command that brings it back."""


class ListedMemory(TypedDict):
    id: str
    heading: str
    category: str
    created: str
    project: NotRequired[str]


class ListResult(TypedDict):
    memories: list[ListedMemory]
    next: NotRequired[str]
    """What `after` takes for the following page."""


class LinkResult(TypedDict):
    source: str
    kind: str
    target: str
    effect: str


class WhyNotResult(TypedDict):
    id: str
    found: bool
    stage: str
    reason: str
    rank: NotRequired[int]


class StatsResult(TypedDict):
    memories: int
    forgotten: int
    sensitive: int
    links: int
    project: NotRequired[str]
    """The one the server stands in."""
    categories: dict[str, int]
    projects: dict[str, int]
