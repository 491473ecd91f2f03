"""What is put into a client's file, how it is known again, and how a whole file is brought into and out of that state.

Text goes in, text comes out; nothing here reads or writes a file.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from recollect.installers.json_edit import (
    Path,
    add_element,
    add_member,
    find,
    remove_element,
    remove_if_empty,
    remove_member,
    replace_value,
)
from recollect.installers.json_text import Document, parse
from recollect.installers.toml_edit import add_table, read_table, remove_table, replace_string

NAME: Final = "recollect"
"""What the server is called in every client."""
_NOT_OURS: Final = f"There is a server called {NAME} already that is not ours: it stays as it is."
_ARGUMENTS: Final = ["mcp"]


@dataclass(frozen=True, slots=True)
class Server:
    """The entry that starts `recollect mcp`."""

    path: Path
    value: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Hook:
    """An entry of the list of commands that a client runs at an event."""

    path: Path
    value: Mapping[str, object]
    call: str
    """What the command is called with, by which it is known again, whatever someone wrote around it."""


@dataclass(frozen=True, slots=True)
class Needed:
    """A value that the file must have for the others to count; one that is there stays as it is."""

    path: Path
    value: object


Entry = Server | Hook | Needed


@dataclass(frozen=True, slots=True)
class Edited:
    text: str
    made: tuple[Path, ...] = ()
    """What had to be made for the entries, in order."""
    notes: tuple[str, ...] = ()


def is_ours(value: object) -> bool:
    """Tell whether a server is one that an installer wrote, whatever was added to it since."""
    if not isinstance(value, Mapping):
        return False
    program = os.path.basename(str(value.get("command", "")).replace("\\", "/")).removesuffix(".exe")
    return program == NAME and value.get("args") == _ARGUMENTS


def is_hook(value: object, call: str) -> bool:
    """Tell whether an entry of a list of hooks runs our command, alone or in a group of its own."""
    command = value.get("command") if isinstance(value, Mapping) else None
    if isinstance(command, str):
        return NAME in command and re.search(rf"{re.escape(call)}(?![\w-])", command) is not None
    inner = _group(value)
    return len(inner) == 1 and is_hook(inner[0], call)


def add_json(text: str, entries: Iterable[Entry], made: Iterable[Path] = ()) -> Edited:
    """Bring the entries in; those that are there are mended in their places, so that others keep theirs."""
    new: list[Path] = []
    notes: list[str] = []
    for entry in entries:
        document = _parse(text, [entry])
        found = find(document, entry.path)
        there = None if found is None else document.data(found)
        if isinstance(entry, Hook):
            own = [place for place, value in _listed(there) if is_hook(value, entry.call)]
            moved = [each for _, value in _listed(there) for each in _group(value) if is_hook(each, entry.call)]
            if len(own) == 1 and len(moved) <= 1:
                text = replace_value(text, (*entry.path, own[0]), entry.value)
                continue
            added = add_element(_remove_hook(text, entry), entry.path, entry.value)
        elif found is None:
            added = add_member(text, entry.path, entry.value)
        else:
            if isinstance(entry, Server) and isinstance(there, dict) and is_ours(there):
                text = _mend(text, entry.path, entry.value, there)
            elif isinstance(entry, Server):
                notes.append(_NOT_OURS)
            continue
        text = added.text
        new += [*added.made, *([entry.path] if isinstance(entry, Needed) else [])]
    return Edited(text, (*(path for path in made if path not in new), *new), tuple(notes))


def remove_json(text: str, entries: Iterable[Entry], made: Iterable[Path] = ()) -> str:
    """Take the entries out, last first, then what had been made for them and holds nothing else."""
    made = tuple(made)
    for entry in reversed(tuple(entries)):
        document = _parse(text, [entry])
        found = find(document, entry.path)
        if found is None:
            continue
        if isinstance(entry, Hook):
            text = _remove_hook(text, entry)
        elif isinstance(entry, Server):
            if is_ours(document.data(found)):
                text = remove_member(text, entry.path)
        elif entry.path in made and document.data(found) == entry.value:
            text = remove_member(text, entry.path)
        for path in reversed([path for path in made if path and path == entry.path[: len(path)]]):
            text = remove_if_empty(text, path)
    return remove_if_empty(text, ()) if () in made else text


def has_json(text: str, entries: Iterable[Entry]) -> bool:
    """Tell whether any of the entries is there."""
    entries = tuple(entries)
    document = _parse(text, entries)
    return any(_has(document, entry) for entry in entries)


def add_toml(text: str, entry: Server) -> Edited:
    """Bring a server in as a table at the end."""
    name = ".".join(entry.path)
    there = read_table(text, name)
    if there is not None:
        if entry.value.items() <= there.items():
            return Edited(text)
        if not is_ours(there):
            return Edited(text, notes=(_NOT_OURS,))
        # Nothing else of ours can differ; what its owner added stays.
        return Edited(replace_string(text, name, "command", _toml(entry.value["command"])))
    return Edited(add_table(text, name, [f"{key} = {_toml(value)}" for key, value in entry.value.items()]))


def remove_toml(text: str, entry: Server) -> str:
    name = ".".join(entry.path)
    return remove_table(text, name) if is_ours(read_table(text, name)) else text


def quote(program: str) -> str:
    """Give a path as a shell takes it."""
    if re.search(r'["$`]', program):
        import shlex

        return shlex.quote(program)
    return f'"{program}"'


def _parse(text: str, entries: Iterable[Entry]) -> Document:
    """Read as much of a text as the entries are in: Claude Code keeps megabytes beside its servers."""
    return parse(text, {entry.path[0] for entry in entries})


def _mend(text: str, path: Path, wanted: Mapping[str, object], there: Mapping[str, object]) -> str:
    """Set what we say of a server of ours; what else its owner said stays."""
    for key, value in wanted.items():
        inner = there.get(key)
        if key not in there:
            text = add_member(text, (*path, key), value).text
        elif isinstance(value, Mapping) and isinstance(inner, Mapping):
            text = _mend(text, (*path, key), value, inner)
        elif inner != value:
            text = replace_value(text, (*path, key), value)
    return text


def _remove_hook(text: str, entry: Hook) -> str:
    """Take a hook out of its list, and out of a group that someone moved it into."""
    document = _parse(text, [entry])
    found = find(document, entry.path)
    for place, value in reversed(_listed(None if found is None else document.data(found))):
        if is_hook(value, entry.call):
            text = remove_element(text, entry.path, place)
            continue
        for inner, each in reversed(list(enumerate(_group(value)))):
            if is_hook(each, entry.call):
                text = remove_element(text, (*entry.path, place, "hooks"), inner)
    return text


def _listed(value: object) -> list[tuple[int, object]]:
    return list(enumerate(value)) if isinstance(value, list) else []


def _group(value: object) -> list[object]:
    inner = value.get("hooks") if isinstance(value, Mapping) else None
    return inner if isinstance(inner, list) else []


def _has(document: Document, entry: Entry) -> bool:
    node = find(document, entry.path)
    if node is None:
        return False
    data = document.data(node)
    if isinstance(entry, Hook):
        return any(is_hook(each, entry.call) for _, value in _listed(data) for each in (value, *_group(value)))
    return isinstance(entry, Server) and is_ours(data)


def _toml(value: object) -> str:
    # What JSON writes of strings, and of lists of them, is TOML as well.
    return json.dumps(value, ensure_ascii=False)
