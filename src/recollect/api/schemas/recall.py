"""What can be asked, and what is answered."""

from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field

from recollect.api import examples
from recollect.api.schemas.fields import Answer, Body, Handle, Id, Label, Moment, Most, Name, Place
from recollect.api.schemas.memories import MemoryAnswer
from recollect.core.memory import LARGEST_PLACE
from recollect.core.query import Sort
from recollect.core.spread import TieKind

_MOST_SPACES: Final = 32
_MOST_NAMES: Final = 100
_MOST_EXCLUDED: Final = 1000
_LONGEST_QUERY: Final = 20_000
_LARGEST_BUDGET: Final = 10_000_000

_RESULT: Final[dict[str, Any]] = {
    **examples.MEMORY,
    "rank": 1,
    "score": 0.85,
    "instead_of": [examples.FRIDAYS],
    "answers": [],
    "pointers": [{"how": "part-of", "id": examples.PLAN, "space": examples.CREW, "heading": "The release plan."}],
}


class Question(Body):
    query: Annotated[str, Field(min_length=1, max_length=_LONGEST_QUERY, description="What you want to know.")]
    spaces: list[Name] = Field(
        default=[],
        max_length=_MOST_SPACES,
        description="Where to look; your own space if there is none. The settings of the first one hold.",
    )
    project: Place | None = Field(
        default=None, description="Look in this project and in what belongs to none; everywhere if you leave it out."
    )
    sessions: list[Place] = Field(default=[], max_length=_MOST_NAMES, description="Only these sessions.")
    categories: list[Label] = Field(default=[], max_length=_MOST_NAMES, description="Only these categories.")
    before: int | None = Field(
        default=None, ge=0, le=LARGEST_PLACE, description="Only what stands before this place in its session."
    )
    as_of: Moment | None = Field(default=None, description="Answer with what was believed at this time.")
    sort: Sort = "relevance"
    limit: Most | None = Field(default=None, description="Most memories; the setting `limit` if you leave it out.")
    budget: int | None = Field(
        default=None, ge=1, le=_LARGEST_BUDGET, description="Most tokens of the answer; no memory is ever cut."
    )
    exclude: list[Id] = Field(
        default=[], max_length=_MOST_EXCLUDED, description="Ids of memories that the prompt holds already."
    )


class RecallQuestion(Question):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"query": "when do we deploy", "spaces": [examples.CREW], "limit": 5},
                {
                    "query": "deploy on fridays",
                    "spaces": [examples.CREW, examples.ADA],
                    "project": examples.PROJECT,
                    "categories": ["decisions"],
                    "sort": "importance",
                    "budget": 800,
                    "explain": True,
                },
            ]
        }
    )

    explain: bool = Field(default=False, description="Add how each memory came through the stages.")


class WhyNotQuestion(Question):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"query": "when do we deploy", "spaces": [examples.CREW], "id": examples.FRIDAYS}]
        }
    )

    id: Handle = Field(description="The memory that is missing from the answer.")


class Pointer(Answer):
    how: str = Field(description="As it reads from the memory: part-of, has-part, see-also, resolved-by.")
    id: str
    space: str
    heading: str | None = Field(description="Its first line; null for a sensitive one.")


class Step(Answer):
    stage: str = Field(description="A leg or a stage of the path.")
    rank: int | None
    score: float | None
    note: str


class Evidence(Answer):
    summary: str
    parts: list[dict[str, str | float]] = Field(description="What each term of the query adds.")


class Way(Answer):
    id: str = Field(description="The memory that score came from.")
    space: str
    heading: str = Field(description="Its first line.")
    kind: TieKind = Field(description="What the two share: a name, a rare word, a relation between names, a link.")
    name: str = Field(description="Which one.")
    amount: float = Field(description="The part of the score that flows in all; compares within one answer only.")


class Explanation(Answer):
    id: str
    space: str
    steps: list[Step]
    evidence: dict[str, Evidence] = Field(description="What each leg says of it; nothing of a sensitive one.")
    ways: list[Way] = Field(description="How score came to it in `spread`, the widest way first.")


class Result(MemoryAnswer):
    model_config = ConfigDict(json_schema_extra={"examples": [_RESULT]})

    rank: int
    score: float = Field(description="Compares within one answer only.")
    instead_of: list[str] = Field(description="Ids of superseded memories that it is served in place of.")
    answers: list[MemoryAnswer] = Field(description="What resolves it.")
    pointers: list[Pointer]
    explain: list[Explanation] | None = Field(
        default=None, description="Only if asked for: for it, and for each it is served in place of."
    )


class Stage(Answer):
    stage: str
    on: bool
    milliseconds: float


class LeftOut(Answer):
    id: str
    space: str
    why: str


class RecallAnswer(Answer):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"results": [_RESULT], "notices": [], "left_out": {"over the limit": 3}, "tokens": 11}]
        }
    )

    results: list[Result]
    notices: list[str] = Field(description="What to know of how the answer came about, such as a leg left out.")
    left_out: dict[str, int] = Field(description="How many were found and not given, by reason.")
    tokens: int = Field(description="What the answer takes of a prompt, by estimate.")
    stages: list[Stage] | None = Field(default=None, description="Only if asked for.")
    left_out_ids: list[LeftOut] | None = Field(default=None, description="Only if asked for.")


class WhyNotAnswer(Answer):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": examples.FRIDAYS,
                    "found": False,
                    "stage": "links",
                    "reason": f"It is outdated: {examples.TUESDAYS} supersedes it, and is served in its place.",
                    "rank": 2,
                }
            ]
        }
    )

    id: str
    found: bool
    stage: str = Field(description="The stage that lost it.")
    reason: str
    rank: int | None = Field(description="Where it last stood.")
