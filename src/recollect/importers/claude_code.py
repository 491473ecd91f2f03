"""Claude Code's auto memory: `~/.claude/projects/<slug>/memory/`, an index MEMORY.md and a file for each topic.

As observed in 2026: a topic has front matter (`name`, `description`, `type`, also under `metadata`) and says one thing,
or, from earlier versions, none and is notes under headings. The slug is the project's path with every character that
is no letter or digit made a dash, so the path is looked for in the session files beside it, then on the disk.
"""

import os
import re
from collections.abc import Iterator
from typing import Final

from recollect.core.errors import Refused
from recollect.core.foreign import Foreign, Found, Left, Locate, Location, Tie
from recollect.core.record import read_object
from recollect.importers.fields import category_of, labels_of, text_of, time_of
from recollect.importers.files import changed_at, check_markdown, list_markdown, read_text
from recollect.importers.front_matter import Value, split_front_matter
from recollect.importers.markdown import foreign_sections
from recollect.importers.sections import cut_sections
from recollect.values import replace

SOURCE: Final = "claude-code"
INDEX: Final = "MEMORY.md"
_CATEGORIES: Final = {
    "user": "people",
    "feedback": "preferences",
    "project": "projects",
    "reference": "facts",
    "": "facts",
}
_POINTER: Final = re.compile(r"^\s*[-*]\s+\[[^\]\n]+\]\((?P<file>[^)\s]+\.md)\)")
_WIKI: Final = re.compile(r"\[\[([^\[\]|#\n]+)")
_LINES: Final = 50
"""A session's first lines say where it was held."""


def read(path: str, locate: Locate) -> Iterator[Found]:
    """Read a memory folder, the folder of a project around it, or all projects."""
    check_markdown(path)
    folders = [path] if os.path.isfile(path) else list(_memory_folders(path))
    if not folders:
        raise Refused(f"{path} holds no memory folder: give one, as in ~/.claude/projects/<project>/memory.")
    for folder in folders:
        yield from _read_folder(folder, locate)


def _memory_folders(path: str) -> Iterator[str]:
    path = os.path.abspath(path)
    if os.path.basename(path) == "memory" or os.path.isfile(os.path.join(path, INDEX)):
        yield path
        return
    around = [path, *(os.path.join(path, each) for each in _folders(path))]
    around += [os.path.join(path, "projects", each) for each in _folders(path, "projects")]
    yield from filter(os.path.isdir, (os.path.join(each, "memory") for each in around))


def _folders(*path: str) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(os.path.join(*path)) if entry.is_dir())
    except OSError:
        return []


def _read_folder(folder: str, locate: Locate) -> Iterator[Found]:
    files = [folder] if os.path.isfile(folder) else list(list_markdown(folder))
    folder = os.path.dirname(os.path.abspath(folder)) if os.path.isfile(folder) else folder
    around = os.path.dirname(os.path.abspath(folder))
    home = find_folder(os.path.basename(around), around)
    location = locate(home) if home else Location()
    names: dict[str, str] = {}
    texts: list[Foreign] = []
    for file in files:
        name = os.path.relpath(file, folder).replace(os.sep, "/")
        like = Foreign(
            # Worktrees share this folder, and another machine has another slug for the same project.
            key=f"{location.project or os.path.basename(around)}:{name}",
            where=f"{os.path.basename(around)}/{name}",
            content="",
            project=location.project,
            needs_project=home is None,
            created_at=changed_at(file),
        )
        try:
            said, text = split_front_matter(read_text(file))
        except Refused as error:
            yield Left(like.where, str(error), wrong=True)
            continue
        for each in _read_index(text, folder, like) if name == INDEX else _read_topic(said, text, like, name):
            yield each
            if isinstance(each, Foreign):
                texts.append(each)
                for title in (text_of(said.get("name")), name.removesuffix(".md")):
                    names.setdefault(title.lower(), each.key)
    for each in texts:
        for target in dict.fromkeys(_WIKI.findall(each.content)):
            if key := names.get(target.strip().lower()):
                yield Tie(each.key, "see-also", key, each.where)


def _read_index(text: str, folder: str, like: Foreign) -> Iterator[Found]:
    """Leave the lines that only point to a topic that is there: they say in short what it says."""
    kept, left = [], 0
    for line in text.split("\n"):
        pointer = _POINTER.match(line)
        if pointer and os.path.isfile(os.path.join(folder, pointer["file"])):
            left += 1
        else:
            kept.append(line)
    if left:
        yield Left(like.where, f"{left} lines of the index only point to files that were read.")
    yield from foreign_sections(cut_sections("\n".join(kept)), like, "Notes of Claude Code")


def _read_topic(said: dict[str, Value], text: str, like: Foreign, name: str) -> Iterator[Found]:
    if not said:
        yield from foreign_sections(cut_sections(text), like, name.removesuffix(".md"))
        return
    below = said.get("metadata")
    more: dict[str, Value] = {**(below if isinstance(below, dict) else {}), **said}
    title, about = text_of(said.get("name")), text_of(said.get("description"))
    content = "\n\n".join(each for each in (about or title, text.strip()) if each)
    if not content:
        yield Left(like.where, "It is empty.")
        return
    yield replace(
        like,
        content=content,
        category=category_of(more.get("type"), _CATEGORIES),
        keywords=labels_of([title] if about else []),
        session=next(iter(labels_of(more.get("originSessionId"))), None),
        updated_at=time_of(more.get("modified")),
    )


def find_folder(slug: str, around: str) -> str | None:
    """Give the folder that a slug stands for, if there is exactly one."""
    for session in sorted(_files(around, ".jsonl"), reverse=True):
        held = _held_in(os.path.join(around, session))
        if held and _slug(held) == slug and os.path.isdir(held):
            return held
    found = list(_spelled(os.sep, slug)) if slug.startswith("-") else []
    return found[0] if len(found) == 1 else None


def _files(folder: str, ending: str) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(folder) if entry.name.endswith(ending) and entry.is_file()]
    except OSError:
        return []


def _held_in(session: str) -> str:
    try:
        with open(session, encoding="utf-8", errors="replace") as file:
            for _, line in zip(range(_LINES), file, strict=False):
                try:
                    held = text_of(read_object(line).get("cwd"))
                except Refused:
                    continue
                if held:
                    return held
    except OSError:
        pass
    return ""


def _slug(path: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "-", path)


def _spelled(folder: str, slug: str) -> Iterator[str]:
    """Give the folders on this disk whose path gives this slug."""
    for name in _folders(folder):
        path = os.path.join(folder, name)
        if _slug(path) == slug:
            yield path
        elif slug.startswith(_slug(path) + "-"):
            yield from _spelled(path, slug)
