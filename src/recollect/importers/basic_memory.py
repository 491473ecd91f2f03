"""basic-memory: a folder of Markdown notes with front matter, observations and relations.

A note becomes one memory, whole: its observations make sense together, under its title. Relations stay in the text,
where their kind is, and those to a note that is there become see-also links too: a link has no room for the kind.
"""

import os
import re
from collections.abc import Iterator
from typing import Final

from recollect.core.errors import Refused
from recollect.core.foreign import Foreign, Found, Left, Locate, Tie
from recollect.importers.fields import category_of, labels_of, text_of, time_of
from recollect.importers.files import changed_at, check_markdown, list_markdown, read_text
from recollect.importers.front_matter import Value, split_front_matter

SOURCE: Final = "basic-memory"
_CATEGORIES: Final = {"": "facts", "note": "facts", "person": "people", "decision": "decisions", "project": "projects"}
_STANDARD: Final = frozenset({"title", "type", "tags", "permalink", "created", "modified", "schema"})
_ITEM: Final = re.compile(r"^\s*[-*+]\s+(?P<text>.+)$", re.MULTILINE)
_TAG: Final = re.compile(r"(?<!\S)#([^\s#,.;:)]+)")
_LINK: Final = re.compile(r"\[\[([^\[\]|\n]+)")


def read(path: str, _locate: Locate) -> Iterator[Found]:
    check_markdown(path)
    files = list(list_markdown(path)) if os.path.isdir(path) else [path]
    if not files:
        raise Refused(f"{path} holds no Markdown notes: give the folder of a basic-memory project.")
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    names: dict[str, str] = {}
    notes: list[Foreign] = []
    for file in files:
        name = os.path.relpath(file, folder).replace(os.sep, "/")
        try:
            said, text = split_front_matter(read_text(file))
        except Refused as error:
            yield Left(name, str(error), wrong=True)
            continue
        note = _read_note(said, text, name, file)
        title = note.content.partition("\n")[0]
        for each in (title, note.key, os.path.splitext(name)[0], os.path.splitext(os.path.basename(name))[0]):
            names.setdefault(each.lower(), note.key)
        notes.append(note)
        yield note
    for note in notes:
        for target in dict.fromkeys(each.strip() for each in _LINK.findall(note.content)):
            if key := names.get(target.lower()):
                yield Tie(note.key, "see-also", key, note.where)


def _read_note(said: dict[str, Value], text: str, name: str, file: str) -> Foreign:
    stem = os.path.splitext(name)[0]
    title = " ".join(text_of(said.get("title")).split()) or os.path.basename(stem)
    first, _, rest = text.strip().partition("\n")
    body = rest if first.lstrip("# ").strip() == title else text
    own = "\n".join(f"{key}: {_line(value)}" for key, value in said.items() if key not in _STANDARD and value)
    tags = [tag for item in _ITEM.finditer(text) for tag in _TAG.findall(item["text"])]
    return Foreign(
        key=text_of(said.get("permalink")) or stem,
        where=name,
        content="\n\n".join(each for each in (title, body.strip(), own) if each),
        category=category_of(said.get("type"), _CATEGORIES),
        tags=labels_of(said.get("tags"), tags),
        created_at=time_of(said.get("created")) or changed_at(file),
        updated_at=time_of(said.get("modified")) or changed_at(file),
    )


def _line(value: Value) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {each}" for key, each in value.items())
    return ", ".join(value) if isinstance(value, list) else value
