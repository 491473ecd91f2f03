"""git's config, as far as it says which project this is: remotes, `recollect.project`, and where a submodule lies."""

from collections.abc import Iterator
from typing import Final

_READ: Final = frozenset({"remote", "recollect", "core"})
_ESCAPES: Final = {"n": "\n", "t": "\t", "b": ""}


class Settings:
    """What a config says: the remotes in their order, and single values by their names."""

    __slots__ = ("remotes", "values")

    def __init__(self, text: str) -> None:
        self.remotes: dict[str, str] = {}
        self.values: dict[str, str] = {}
        for section, sub, key, value in _entries(text):
            if section == "remote" and key == "url" and value:
                self.remotes.setdefault(sub, value)
            elif not sub:
                self.values[f"{section}.{key}"] = value

    @property
    def remote(self) -> str:
        """The address of `origin`, or of the first remote there is."""
        return self.remotes.get("origin") or next(iter(self.remotes.values()), "")


def _entries(text: str) -> Iterator[tuple[str, str, str, str]]:
    section = sub = ""
    for line in _lines(text):
        rest = line.lstrip()
        if rest.startswith("["):
            section, sub, rest = _header(rest[1:])
        key, equals, value = rest.partition("=")
        if equals and section in _READ:
            yield section, sub, key.strip().lower(), _value(value)


def _lines(text: str) -> Iterator[str]:
    """Give the lines; one that ends in a backslash goes on in the next."""
    begun = ""
    for line in text.split("\n"):
        whole = begun + line.removesuffix("\r")
        begun = ""
        if (len(whole) - len(whole.rstrip("\\"))) % 2:
            begun = whole[:-1]
        else:
            yield whole
    yield begun


def _header(text: str) -> tuple[str, str, str]:
    """Read what stands behind the bracket of a section: its name, that in quotes, and what else is on the line."""
    name, quote, rest = text.partition('"')
    if not quote or "]" in name:
        name, _, rest = text.partition("]")
        return name.strip().lower(), "", rest
    sub, at = "", 0
    while at < len(rest) and rest[at] != '"':
        at += rest[at] == "\\"
        sub += rest[at : at + 1]
        at += 1
    return name.strip().lower(), sub, rest[at + 1 :].partition("]")[2]


def _value(text: str) -> str:
    """Read a value as git does: quotes and backslashes mean something, a comment ends it."""
    text = text.strip()
    if not any(mark in text for mark in '"\\;#'):
        return text
    kept, blank, quoted = "", "", False
    letters = iter(text)
    for letter in letters:
        if letter == '"':
            quoted = not quoted
        elif letter in ";#" and not quoted:
            break
        elif letter in " \t" and not quoted:
            blank += letter
        else:
            if letter == "\\":
                escaped = next(letters, "")
                letter = _ESCAPES.get(escaped, escaped)  # noqa: PLW2901 - it stands for two
            kept, blank = kept + blank + letter, ""
    return kept
