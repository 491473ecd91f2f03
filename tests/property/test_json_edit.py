"""Random JSON, written in random ways, keeps every byte through putting something in and taking it out."""

import json
from dataclasses import replace

from hypothesis import assume, example, given
from hypothesis import strategies as st

from client_files import PROGRAM, place_folders
from recollect.installers.catalog import CLIENTS, find_client
from recollect.installers.entries import add_json, remove_json
from recollect.installers.json_edit import (
    Path,
    WrongShape,
    add_element,
    add_member,
    find,
    remove_element,
    remove_if_empty,
    remove_member,
)
from recollect.installers.json_text import parse

_keys = st.sampled_from(["mcpServers", "servers", "hooks", "Stop", "sessionStart", "version", "ключ", 'a "b"'])
_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_keys, inner, max_size=4),
    max_leaves=16,
)
_gaps = st.text(" \t\n", max_size=3)
_comments = st.sampled_from(["// a note\n", "/* a note */", "/* two\n lines */", "//\r\n", "// last  \n"])
_spaces = st.lists(_gaps | _gaps | _comments, max_size=3).map("".join)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Draw an object as a person, an editor or a program may have written it."""
    data = draw(st.dictionaries(_keys, _data, max_size=5))
    text = draw(st.sampled_from(["loose", "pretty", "tabs", "compact"]))
    if text == "loose":
        return draw(_spaces) + _loosely(draw, data) + draw(_spaces)
    layout = {"pretty": {"indent": 2}, "tabs": {"indent": "\t"}, "compact": {"separators": (",", ":")}}[text]
    written = json.dumps(data, ensure_ascii=False, **layout)  # type: ignore[arg-type]
    written = draw(st.sampled_from(["", "\ufeff"])) + written + draw(st.sampled_from(["", "\n", "\n\n"]))
    return written.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


def _loosely(draw: st.DrawFn, data: object) -> str:
    if not isinstance(data, dict | list):
        return json.dumps(data)
    parts = [
        draw(_spaces) + part + draw(_spaces)
        for part in (
            [_loosely(draw, each) for each in data]
            if isinstance(data, list)
            else [
                f"{json.dumps(key)}{draw(_spaces)}:{draw(_spaces)}{_loosely(draw, each)}" for key, each in data.items()
            ]
        )
    ]
    ending = draw(st.sampled_from(["", ","])) + draw(_spaces) if parts else draw(_spaces)
    first, last = "{}" if isinstance(data, dict) else "[]"
    return first + ",".join(parts) + ending + last


def _there_and_back(text: str, path: Path, *, element: bool) -> None:
    value = {"command": "/opt/recollect", "args": ["mcp"]}
    try:
        added = add_element(text, path, value) if element else add_member(text, path, value)
    except WrongShape:
        assume(False)
    document = parse(added.text)
    box = find(document, path)
    assert box is not None
    assert document.data(box.items[-1].value if element else box) == value

    text_again = remove_element(added.text, path, len(box.items) - 1) if element else remove_member(added.text, path)
    for made in reversed(added.made):
        text_again = remove_if_empty(text_again, made)

    assert text_again == text


@given(documents())
@example("")
@example("\ufeff")
@example("// only a note\n")
@example("{}")
@example("{\n}")
@example("{ }\r\n")
@example('{"mcpServers": {}}')
@example('{"mcpServers": {"a": 1,}, // note\n}')
def test_a_member_leaves_no_trace(text: str) -> None:
    """A server put into an object and taken out leaves the text as it was, byte for byte."""
    assume('"recollect"' not in text)
    _there_and_back(text, ("mcpServers", "recollect"), element=False)


@given(documents())
@example("")
@example('{"hooks": {"Stop": []}}')
@example('{"hooks": {"Stop": [1, // one\n]}}')
def test_an_element_leaves_no_trace(text: str) -> None:
    """A hook put into an array and taken out leaves the text as it was, byte for byte."""
    _there_and_back(text, ("hooks", "Stop"), element=True)


@given(documents())
def test_the_rest_means_the_same(text: str) -> None:
    """With an entry put in, everything else still means what it meant."""
    before = parse(text)
    assert before.root is not None
    wanted = before.data(before.root)
    assert isinstance(wanted, dict)
    wanted["recollect"] = 1

    after = parse(add_member(text, ("recollect",), 1).text)

    assert after.root is not None
    assert after.data(after.root) == wanted


@given(st.sampled_from([name for name in CLIENTS if name != "codex"]), documents())
def test_a_client_leaves_no_trace(name: str, text: str) -> None:
    """Every entry of a client put into one file, put in again, and taken out, leaves the text as it was."""
    entries = [entry for file in find_client(name, place_folders("/home"), PROGRAM).files for entry in file.entries]
    try:
        once = add_json(text, entries)
    except WrongShape:
        assume(False)

    assert add_json(once.text, entries, once.made) == replace(once, notes=())
    assert remove_json(once.text, entries, once.made) == text
