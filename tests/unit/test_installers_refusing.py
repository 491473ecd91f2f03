"""When an installation is refused, or fails: nothing at all is changed."""

import os
from pathlib import Path

import pytest

from client_files import PROGRAM, install, picture, place_folders, write_sample, write_samples
from recollect.core.errors import Conflict, Refused
from recollect.installers.catalog import CLIENTS, find_client
from recollect.installers.files import apply
from recollect.installers.folders import Folders
from recollect.installers.plan import is_installed, plan_install, plan_uninstall

EVERY_CLIENT = pytest.mark.parametrize("name", CLIENTS)


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folders:
    # What survives a power cut is not tested here, and waiting for the disk is most of the time.
    monkeypatch.setattr(os, "fsync", lambda _: None)
    return place_folders(str(tmp_path))


WRONG: dict[str, tuple[bytes, str]] = {
    "half an object": (b'{"mcpServers": {', "line 1, column 17"),
    "two values": (b"{} {}", "line 1, column 4"),
    "a word": (b'{\n  "a": yes\n}', "line 2, column 8"),
    "single quotes": (b"{'a': 1}", "line 1, column 2"),
    "two commas": (b'{"a": 1,, "b": 2}', "line 1, column 9"),
    "a wrong end": (b'{"a": [1}}', "line 1, column 9"),
    "a missing colon": (b'{"a" 1}', "line 1, column 6"),
    "a bad escape": (b'{"a": "\\x"}', "line 1, column 7"),
    "a list": (b"[]", "`the whole file`"),
    "servers in a list": (b'{"mcpServers": [], "servers": [], "context_servers": []}', "ervers`"),
    "not text": (b'{"a": "\xff"}', "UTF-8"),
}


@EVERY_CLIENT
@pytest.mark.parametrize("sample", WRONG)
def test_refuses_what_is_wrong(name: str, sample: str, folders: Folders) -> None:
    """A file that cannot be understood is named with the place and what to do, and no file at all is changed."""
    client = find_client(name, folders, PROGRAM)
    content, hint = WRONG[sample]
    file = next(file for file in client.files if not file.toml)
    write_samples(client, b"{}")
    write_sample(file.path, content)
    if name == "codex" and sample == "servers in a list":
        write_sample(file.path, b'{"hooks": {"Stop": {}}}')
        hint = "`hooks.Stop`"
    before = picture(folders.home)

    with pytest.raises(Refused, match=r"Nothing was changed") as raised:
        plan_install(client, folders.installed)

    assert hint in str(raised.value)
    assert file.path in str(raised.value)
    assert picture(folders.home) == before


def test_refuses_hooks_of_another_kind(folders: Folders) -> None:
    """What is no list of hooks is not made one, and the server's file, planned before, is not written either."""
    client = find_client("claude-code", folders, PROGRAM)
    write_sample(client.files[1].path, b'{"hooks": {"Stop": "never"}}')
    before = picture(folders.home)

    with pytest.raises(Refused, match=r"`hooks\.Stop`"):
        install(client, folders)

    assert picture(folders.home) == before


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (b"model = ", "not valid TOML"),
        (b'mcp_servers = { github = { command = "npx" } }\n', "by hand"),
    ],
)
def test_refuses_toml_that_it_cannot_edit(content: bytes, hint: str, folders: Folders) -> None:
    """Broken TOML, and servers that are written as one value, are left as they are."""
    client = find_client("codex", folders, PROGRAM)
    write_sample(client.files[0].path, content)
    before = picture(folders.home)

    with pytest.raises(Refused, match=hint):
        plan_install(client, folders.installed)

    assert picture(folders.home) == before


@EVERY_CLIENT
@pytest.mark.parametrize("place", [0, -1])
def test_refuses_a_read_only_file(name: str, place: int, folders: Folders) -> None:
    """A file that its owner may not write is not replaced behind their back, whoever runs the command."""
    client = find_client(name, folders, PROGRAM)
    path = client.files[place].path
    write_sample(path, b"")
    os.chmod(path, 0o444)
    before = picture(folders.home)

    with pytest.raises(Refused, match=r"read-only.*Nothing was changed"):
        plan_install(client, folders.installed)

    assert picture(folders.home) == before


def test_a_read_only_file_with_nothing_to_change(folders: Folders) -> None:
    """Settings that something else manages, and that have our entries already, are looked at and not complained of."""
    client = find_client("zed", folders, PROGRAM)
    install(client, folders)
    os.chmod(client.files[0].path, 0o444)

    assert is_installed(client)
    assert plan_install(client, folders.installed).changes == ()
    with pytest.raises(Refused, match="read-only"):
        plan_uninstall(client, folders.installed)


def test_nothing_is_written_over_a_change(folders: Folders) -> None:
    """A file that the client itself rewrote between the look and the writing is not overwritten."""
    client = find_client("claude-code", folders, PROGRAM)
    write_sample(client.files[0].path, b"{}")
    plan = plan_install(client, folders.installed)
    write_sample(client.files[0].path, b'{"numStartups": 1}')
    before = picture(folders.home)

    with pytest.raises(Conflict, match="try again"):
        apply(plan.all_changes)

    assert picture(folders.home) == before


def test_all_or_nothing(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the second file cannot be written, the first is put back, and what was made for them goes."""
    client = find_client("cursor", folders, PROGRAM)
    write_sample(client.files[0].path, b'{"a": 1}')
    before = picture(folders.home)
    replace = os.replace

    def fail_for_hooks(source: str, target: str) -> None:
        if target.endswith("hooks.json"):
            raise OSError(28, "No space left on device", target)
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_for_hooks)
    with pytest.raises(Refused, match=r"hooks\.json cannot be written \(No space left on device\)"):
        install(client, folders)

    assert picture(folders.home) == before


def test_an_unknown_client(folders: Folders) -> None:
    """Asked for a client that it does not know, it names those it does."""
    with pytest.raises(Refused, match="claude-code, codex, cursor"):
        find_client("emacs", folders, PROGRAM)
