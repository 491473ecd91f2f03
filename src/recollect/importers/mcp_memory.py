"""The reference MCP memory server: a file of JSON lines, entities with observations, and relations between entities.

An entity becomes one memory, its observations a list under its name: alone they would not say what they are about.
A relation becomes a line in that list, which keeps its kind, and a see-also link to the other entity.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from recollect.core.errors import Refused
from recollect.core.foreign import Foreign, Found, Left, Locate, Tie
from recollect.core.record import read_object
from recollect.importers.fields import category_of, labels_of, text_of
from recollect.importers.files import changed_at, parse_json, read_text
from recollect.values import replace

SOURCE: Final = "mcp-memory"
_CATEGORIES: Final = {
    "": "facts",
    "person": "people",
    "people": "people",
    "project": "projects",
    "decision": "decisions",
}
_ENDS: Final = ("from", "relationType", "to")


def read(path: str, _locate: Locate) -> Iterator[Found]:
    entities: dict[str, Foreign] = {}
    lines: dict[str, list[str]] = {}
    ties: list[Tie] = []
    at = changed_at(path)
    for where, record in _records(path):
        if isinstance(record, Left):
            yield record
        elif record.get("type") == "relation":
            ends = [text_of(record.get(end)) for end in _ENDS]
            if not all(ends):
                yield Left(where, f"The relation lacks its {', '.join(_ENDS)}.", wrong=True)
                continue
            lines.setdefault(ends[0], []).append(f"- {ends[1]}: {ends[2]}")
            ties.append(Tie(ends[0], "see-also", ends[2], where))
        elif not (name := text_of(record.get("name"))):
            yield Left(where, "It is no entity with a name, and no relation.", wrong=True)
        else:
            kind = text_of(record.get("entityType"))
            said = record.get("observations")
            said = said if isinstance(said, list) else []
            if odd := sum(not text_of(each) for each in said):
                yield Left(where, f"{odd} observations are not text.", wrong=True)
            heading = f"{name} ({kind})" if kind else name
            content = "\n".join([heading, *(f"- {text_of(each)}" for each in said if text_of(each))])
            category = category_of(kind if kind.lower() in _CATEGORIES else "", _CATEGORIES)
            if known := entities.get(name):
                # Two servers on one file can each have made it: what the second says is said of the same.
                more = [line for line in content.split("\n")[1:] if line not in known.content.split("\n")]
                entities[name] = replace(known, content="\n".join([known.content, *more]))
            else:
                entities[name] = Foreign(name, where, content, category, labels_of([kind]), created_at=at)
    for name, entity in entities.items():
        yield replace(entity, content="\n".join([entity.content, *lines.pop(name, [])]))
    for name, said in lines.items():
        yield Left(name, f"There is no such entity, but relations of it: {'; '.join(said)}.", wrong=True)
    yield from (tie for tie in ties if tie.source in entities and tie.target in entities)


def _records(path: str) -> Iterator[tuple[str, Mapping[str, Any] | Left]]:
    """Give the lines, or what `read_graph` returned and somebody saved."""
    text = read_text(path)
    if not text.strip():
        raise Refused(f"{path} is empty.")
    try:
        whole = parse_json(text, path)
    except Refused:
        whole = None
    if isinstance(whole, dict) and isinstance(whole.get("entities"), list):
        listed = [("entity", each) for each in whole["entities"]]
        listed += [("relation", each) for each in whole.get("relations") or [] if isinstance(whole["relations"], list)]
        for number, (kind, each) in enumerate(listed, start=1):
            where = f"{kind} {number}"
            record = {**each, "type": kind} if isinstance(each, dict) else Left(where, "It is no object.", wrong=True)
            yield where, record
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            where = f"line {number}"
            try:
                yield where, read_object(line)
            except Refused as error:
                yield where, Left(where, str(error), wrong=True)
