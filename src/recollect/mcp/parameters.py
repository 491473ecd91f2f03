"""The parameters of the tools, each with its type and the line that explains it to an agent."""

from typing import Annotated

from pydantic import Field

from recollect.core.memory import CATEGORIES, LinkKind
from recollect.core.query import LARGEST_LIMIT, Sort

Handle = Annotated[str, Field(description="The memory's id, or its last 8 characters.")]

# What a memory is made of.
Content = Annotated[str, Field(description="The memory, self-contained; its first line is its heading.")]
NewContent = Annotated[str, Field(description="The whole new text; leave out to keep the text.")]
Category = Annotated[str, Field(description=f"{', '.join(CATEGORIES)}, or one of the user's own.")]
Tags = Annotated[list[str], Field(description="A few labels to group by.")]
Keywords = Annotated[list[str], Field(description="Words that a search may use and the text lacks: synonyms, names.")]
Importance = Annotated[float, Field(description="0 to 1; 0.5 is ordinary, 0.9 must not be missed.")]
Home = Annotated[
    str, Field(description='The project it belongs to: "." is the one you stand in, "*" none, so it holds everywhere.')
]
General = Annotated[bool, Field(description='Belongs to no project; the same as project "*".')]
Session = Annotated[str, Field(description="The conversation it comes from.")]
Place = Annotated[int, Field(description="Its place in that session, counted from 0.")]
Sensitive = Annotated[
    bool, Field(description="A password, key or private matter: only its owner sees the text, never an agent.")
]
NewSensitive = Annotated[bool, Field(description="true hides the text from agents; only its owner can undo that.")]
ClientId = Annotated[str, Field(description="A UUID of your own: storing it again with the same text is harmless.")]
Version = Annotated[int, Field(description="Refuse if the memory is no longer at this version.")]

# What a recall looks at.
Words = Annotated[str, Field(description="What you want to know, in its telling words.")]
Limit = Annotated[int, Field(description="Most memories to bring; 10 unless set otherwise, 3 to 5 are often enough.")]
Project = Annotated[
    str | None,
    Field(description='"." is the project you stand in, "*" everywhere. What belongs to no project is always seen.'),
]
Sessions = Annotated[list[str], Field(description="Only these sessions.")]
Categories = Annotated[list[str], Field(description="Only these categories.")]
Before = Annotated[int, Field(description="Only memories whose place in their session is below this.")]
AsOf = Annotated[str, Field(description="Answer as of this ISO 8601 time, with what was believed then.")]
Order = Annotated[Sort, Field(description="recency is by time alone.")]
Budget = Annotated[int, Field(description="Most tokens the memories may take; none is ever cut.")]
Exclude = Annotated[list[str], Field(description="Ids of memories that you have already.")]
Explain = Annotated[bool, Field(description="Add how each memory came through the stages of the ranking.")]

# What a list looks at.
PageSize = Annotated[int, Field(description="Most memories to list.", ge=1, le=LARGEST_LIMIT)]
After = Annotated[str, Field(description="Go on behind this id: the `next` of the page before.")]

# A link, read from its source to its target.
Source = Annotated[str, Field(description="Id of the memory that the link starts from.")]
Target = Annotated[str, Field(description="Id of the memory that it leads to.")]
Kind = Annotated[
    LinkKind,
    Field(
        description="supersedes: source is newer and is served in place of target. resolved-by: source is a problem, "
        "and target, its answer, comes with it. part-of: source belongs to target. see-also: each points to the other."
    ),
]
