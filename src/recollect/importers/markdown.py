"""CLAUDE.md, AGENTS.md and other Markdown files: a memory for each section, under the headings it stands in.

A folder gives all files that agents are instructed by. A section belongs to the project of its folder, and is known
there by its headings: one that is renamed is another.
"""

import os
from collections.abc import Iterable, Iterator
from typing import Final

from recollect.core.errors import Refused
from recollect.core.foreign import Foreign, Found, Left, Locate, Location
from recollect.importers.fields import described
from recollect.importers.files import changed_at, list_markdown, read_text
from recollect.importers.front_matter import split_front_matter
from recollect.importers.sections import BETWEEN, Section, cut_sections
from recollect.values import replace

SOURCE: Final = "markdown"
INSTRUCTIONS: Final = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md")
_OF_CLIENT: Final = ".claude"
_NOT_OURS: Final = frozenset({"node_modules", "vendor", "site-packages"})


def read(path: str, locate: Locate) -> Iterator[Found]:
    files = list(_instructions(path)) if os.path.isdir(path) else [path]
    if not files:
        raise Refused(f"{path} holds no {', '.join(INSTRUCTIONS)}: name the Markdown file itself.")
    read_before: set[str] = set()
    for file in files:
        # AGENTS.md is often a link to CLAUDE.md.
        real = os.path.realpath(file)
        if real not in read_before:
            read_before.add(real)
            yield from _read_file(file, locate)


def name_file(file: str, location: Location) -> str:
    """Name a file by its place in its project, so that every clone of it gives the same name."""
    real = os.path.realpath(file)
    if location.root is None:
        return real
    inside = os.path.relpath(real, os.path.realpath(location.root)).replace(os.sep, "/")
    return f"{location.project or ''}:{inside}"


def foreign_sections(sections: Iterable[Section], like: Foreign, title: str) -> Iterator[Foreign]:
    """Give each section that says something, with what it has in common with the others from `like`."""
    used: dict[str, int] = {}
    for section in sections:
        path = BETWEEN.join(section.path)
        # A heading right above another is in the first line of what stands under that.
        if not section.text.strip():
            continue
        used[path] = used.get(path, 0) + 1
        yield replace(
            like,
            key=f"{like.key}#{path}" + (f"#{used[path]}" if used[path] > 1 else ""),
            where=f"{like.where}, {path}" if path else like.where,
            content=section.content if section.path else f"{title}\n\n{section.text}",
        )


def _read_file(file: str, locate: Locate) -> Iterator[Found]:
    folder = os.path.dirname(os.path.abspath(file))
    # What is in .claude belongs to the folder around it; in one's home that is no project.
    while os.path.basename(folder) == _OF_CLIENT or os.path.basename(os.path.dirname(folder)) == _OF_CLIENT:
        folder = os.path.dirname(folder)
    location = locate(folder)
    try:
        said, text = split_front_matter(read_text(file))
    except Refused as error:
        yield Left(file, str(error), wrong=True)
        return
    if not text.strip():
        yield Left(file, "It is empty.")
        return
    name = os.path.basename(file)
    keywords, _ = described(
        {key: ", ".join(value) if isinstance(value, list) else value for key, value in said.items()}
    )
    like = Foreign(
        key=name_file(file, location),
        where=file,
        content="",
        tags=(name,),
        keywords=keywords,
        project=location.project,
        created_at=changed_at(file),
    )
    yield from foreign_sections(cut_sections(text), like, name)


def _instructions(folder: str) -> Iterator[str]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if name == _OF_CLIENT or not (name.startswith(".") or name in _NOT_OURS)
        )
        if os.path.basename(here) == _OF_CLIENT:
            folders[:] = [name for name in folders if name == "rules"]
        if os.path.basename(here) == "rules" and os.path.basename(os.path.dirname(here)) == _OF_CLIENT:
            yield from list_markdown(here)
            folders[:] = []
        yield from (os.path.join(here, name) for name in INSTRUCTIONS if name in names)
