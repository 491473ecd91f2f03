"""What an installation or its removal would change: every file of a client is read and thought through before one
is written, so that a file which cannot be changed leaves all others as they are.
"""

import os
from dataclasses import dataclass

from recollect.core.errors import Refused
from recollect.installers.client import Client, File
from recollect.installers.entries import Edited, Server, add_json, add_toml, has_json, is_ours, remove_json, remove_toml
from recollect.installers.files import Change, missing_folders, read_file, refuse_read_only
from recollect.installers.json_edit import WrongShape
from recollect.installers.json_text import NotJson
from recollect.installers.record import Made, Record, read_record, record_path, write_record
from recollect.installers.toml_edit import NotOurs, NotToml, read_table


@dataclass(frozen=True, slots=True)
class Plan:
    changes: tuple[Change, ...]
    """Of the client's files; none if there is nothing to do."""
    notes: tuple[str, ...]
    record: Change
    """Of the note about them, which is ours."""

    @property
    def all_changes(self) -> tuple[Change, ...]:
        return (self.record, *self.changes) if self.changes else ()


def plan_install(client: Client, installed: str) -> Plan:
    record = read_record(record_path(installed, client.name))
    changes: list[Change] = []
    notes: list[str] = []
    for file in client.files:
        path = os.path.realpath(file.path)
        before = read_file(path)
        known = record.get(path, Made())
        edited = _edit(file, before, known, take_out=False)
        notes += [f"{file.path}: {note}" for note in edited.notes]
        after = edited.text.encode()
        if after != (before or b""):
            folders = missing_folders(path)
            changes.append(Change(path, before, after, folders))
            new = before is None or known.new
            record[path] = Made(edited.made, new, folders or known.folders)
    return _plan(changes, notes, _note(client, installed, record))


def plan_uninstall(client: Client, installed: str) -> Plan:
    record = read_record(record_path(installed, client.name))
    changes: list[Change] = []
    for file in client.files:
        path = os.path.realpath(file.path)
        before = read_file(path)
        if before is None:
            continue
        known = record.get(path, Made())
        text = _edit(file, before, known, take_out=True).text
        if known.new and not text.strip():
            changes.append(Change(path, before, None, known.folders))
        elif text.encode() != before:
            changes.append(Change(path, before, text.encode()))
    return _plan(changes, [], _note(client, installed, {}))


def is_installed(client: Client) -> bool:
    """Tell whether any of the client's files has anything of ours."""
    for file in client.files:
        content = read_file(os.path.realpath(file.path))
        if content is None:
            continue
        text = _decode(file, content)
        try:
            if file.toml:
                table = read_table(text, ".".join(file.entries[0].path))
                found = is_ours(table)
            else:
                found = has_json(text, file.entries)
        except (NotJson, NotToml) as error:
            raise _refusal(file, error) from None
        if found:
            return True
    return False


def _plan(changes: list[Change], notes: list[str], record: Change) -> Plan:
    for change in changes:
        refuse_read_only(change.path)
    return Plan(tuple(changes), tuple(notes), record)


def _edit(file: File, content: bytes | None, known: Made, *, take_out: bool) -> Edited:
    text = _decode(file, content or b"")
    try:
        if file.toml:
            (server,) = (entry for entry in file.entries if isinstance(entry, Server))
            return Edited(remove_toml(text, server)) if take_out else add_toml(text, server)
        if take_out:
            return Edited(remove_json(text, file.entries, known.paths))
        return add_json(text, file.entries, known.paths)
    except (NotJson, NotToml, WrongShape, NotOurs) as error:
        raise _refusal(file, error) from None


def _decode(file: File, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise Refused(f"{file.path} is not text in UTF-8: mend it, then try again. Nothing was changed.") from None


def _refusal(file: File, error: ValueError) -> Refused:
    if isinstance(error, NotJson):
        reason = f"is not valid JSON ({error}): mend it, then try again"
    elif isinstance(error, NotToml):
        reason = f"is not valid TOML ({error}): mend it, then try again"
    elif isinstance(error, WrongShape):
        reason = f"has something else than expected at `{error}`: mend it, then try again"
    else:
        reason = f"has its servers written in a way that cannot be edited safely: write `{error}` by hand"
    return Refused(f"{file.path} {reason}. Nothing was changed.")


def _note(client: Client, installed: str, record: Record) -> Change:
    path = record_path(installed, client.name)
    try:
        with open(path, "rb") as file:
            before: bytes | None = file.read()
    except OSError:
        before = None
    if record:
        return Change(path, before, write_record(record), missing_folders(path))
    return Change(path, before, None, (os.path.dirname(installed), installed))
