"""The tools' answers as text for a model to read. It words results, never memories: see `showing`.

Ids are given by their last 8 characters, which every tool takes.
"""

from collections.abc import Mapping, Sequence

from mcp_types import CallToolResult, TextContent

from recollect.mcp.results import (
    DeleteResult,
    GetResult,
    KeptResult,
    LinkResult,
    ListResult,
    Pointer,
    RecalledMemory,
    RecallResult,
    ShownMemory,
    StatsResult,
    WhyNotResult,
)


def answer(result: Mapping[str, object], text: str) -> CallToolResult:
    """Give a result both ways: as data that fits the tool's schema, and as text."""
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=dict(result))


def word_recall(result: RecallResult) -> str:
    parts = [_recalled(memory) for memory in result["memories"]] or [
        'Nothing found. Try other words, or project "*" to look everywhere.'
    ]
    ends = [f"Notice: {notice}" for notice in result.get("notices", ())]
    if left_out := result.get("left_out"):
        ends.append("Left out: " + ", ".join(f"{count} {why}" for why, count in left_out.items()) + ".")
    return "\n\n".join([*parts, "\n".join(ends)] if ends else parts)


def word_get(result: GetResult) -> str:
    more = [f"version {result['version']}"]
    more += [f"{name} {result[name]}" for name in ("updated", "forgotten", "session", "place") if name in result]
    if "keywords" in result:
        more.append("keywords " + ", ".join(result["keywords"]))
    return "\n".join([_head(result, *more), result["content"], *_pointers(result.get("links", ()))])


def word_kept(result: KeptResult, verb: str) -> str:
    where = f", project {result['project']}" if "project" in result else ""
    return (
        f"{verb} {_short(result['id'])} ({result['category']}{where}, version {result['version']}): {result['heading']}"
    )


def word_deleted(result: DeleteResult) -> str:
    return f"Forgot {_short(result['id'])}: {result['heading']}\nIts owner can bring it back: {result['undo']}"


def word_list(result: ListResult) -> str:
    lines = [
        f"{_short(memory['id'])} {memory['created']} {memory['category']}: {memory['heading']}"
        for memory in result["memories"]
    ] or ["No memories here."]
    if "next" in result:
        lines.append(f"More: after={_short(result['next'])}")
    return "\n".join(lines)


def word_link(result: LinkResult) -> str:
    return f"Linked {_short(result['source'])} {result['kind']} {_short(result['target'])}: {result['effect']}"


def word_why_not(result: WhyNotResult) -> str:
    return f"{_short(result['id'])}, {result['stage']}: {result['reason']}"


def word_stats(result: StatsResult) -> str:
    lines = [
        f"{result['memories']} memories, {result['sensitive']} sensitive; {result['forgotten']} forgotten",
        f"Links: {result['links']}",
        "Categories: " + _counts(result["categories"]),
        "Projects: " + _counts(result["projects"]),
        f"You stand in: {result.get('project', 'no project')}",
    ]
    return "\n".join(lines)


def _recalled(memory: RecalledMemory) -> str:
    lines = [_head(memory, f"score {memory['score']:g}"), memory["content"]]
    if "instead_of" in memory:
        lines.append("stands in for the superseded " + ", ".join(_short(old) for old in memory["instead_of"]))
    for answer in memory.get("answers", ()):
        lines += ["resolved by " + _head(answer), answer["content"]]
    lines += _pointers(memory.get("pointers", ()))
    lines += [f"explain: {line}" for line in memory.get("explanation", ())]
    return "\n".join(lines)


def _head(memory: ShownMemory, *more: str) -> str:
    parts = [_short(memory["id"]), memory["category"], f"{memory['created']} ({memory['age']})"]
    if "project" in memory:
        parts.append(f"project {memory['project']}")
    if "tags" in memory:
        parts.append("tags " + ", ".join(memory["tags"]))
    if "importance" in memory:
        parts.append(f"importance {memory['importance']:g}")
    return f"[{' | '.join([*parts, *more])}]"


def _pointers(pointers: Sequence[Pointer]) -> list[str]:
    return [f"{pointer['how']} {_short(pointer['id'])}: {pointer['heading']}" for pointer in pointers]


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"


def _short(memory_id: str) -> str:
    return memory_id[-8:]
