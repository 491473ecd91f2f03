"""Which folders are the same project and which are not: the table of cases, made by git wherever git can make them."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from making import StandingClock, open_recollect
from recollect import wiring
from recollect.config import Config
from recollect.project import find_root, identify_project, keep_name, paths
from recollect.values import replace

REMOTE = "git@example.com:team/shop.git"
Case = Callable[[Path], list[Path | str]]
AGREE: dict[str, Case] = {}
DIFFER: dict[str, Case] = {}


@pytest.fixture(autouse=True)
def _git_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in tuple(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Tester")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "tester@example.com")
    # The drives of Windows, as WSL has them.
    monkeypatch.setattr(paths, "MOUNTS", str(tmp_path / "mnt"))


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def make(folder: Path, remote: str = "") -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


def clone(source: Path | str, target: Path) -> Path:
    subprocess.run(["git", "clone", "-q", str(source), str(target)], check=True, capture_output=True)
    return target


def project(folder: Path | str) -> str | None:
    return identify_project(str(folder))


def agree(case: str) -> Callable[[Case], None]:
    """Put a case into the table of folders that are one project."""
    return lambda made: AGREE.update({case: made})


def differ(case: str) -> Callable[[Case], None]:
    """Put a case into the table of folders that are each another project."""
    return lambda made: DIFFER.update({case: made})


@agree("Clones of one remote, over https with a password and over ssh")
def _clones(at: Path) -> list[Path | str]:
    return [make(at / "one", "https://ana:pass@example.com/team/shop"), make(at / "two", REMOTE)]


SSH_CONFIG = """
# two accounts
Host github-work gh
    User git
    HostName GitHub.com
Host github.com-private
  Hostname=github.com
Match host elsewhere
  HostName else.example.com
Host short
  HostName "%h.example.com"
Host github.com
  HostName ssh.github.com
Host example.com
  HostName git.internal.example.net
Host box
  HostName 10.0.0.7
Host plain
  User git
Host gh
  HostName too.late.example.com
"""


@agree("Clones over https and by the names that a host has in one's ssh config, or has for ssh on another port")
def _aliases(at: Path) -> list[Path | str]:
    (at / "home" / ".ssh").mkdir(parents=True)
    (at / "home" / ".ssh" / "config").write_text(SSH_CONFIG)
    remotes = ("https://github.com/team/shop", "git@github-work:team/shop.git", "GH:team/shop", "ssh://git@github.com-private/team/shop",
               "git@github.com:team/shop.git", "ssh://git@ssh.github.com:443/team/shop.git")  # fmt: skip
    return [make(at / str(number), remote) for number, remote in enumerate(remotes)]


@agree("Clones from Azure over https and over ssh")
def _azure(at: Path) -> list[Path | str]:
    remotes = ("https://org@dev.azure.com/org/Our%20Shop/_git/web", "git@ssh.dev.azure.com:v3/org/Our%20Shop/web")
    return [make(at / str(number), remote) for number, remote in enumerate(remotes)]


@agree("A repository with a remote, its worktree and a folder in that")
def _worktrees(at: Path) -> list[Path | str]:
    git(make(at / "main", REMOTE), "worktree", "add", "-q", str(at / "tree"))
    (at / "tree" / "deep").mkdir()
    return [at / "main", at / "tree", at / "tree" / "deep"]


@agree("A repository without a remote and its worktree")
def _worktrees_without_remote(at: Path) -> list[Path | str]:
    git(make(at / "main"), "worktree", "add", "-q", str(at / "tree"))
    return [at / "main", at / "tree"]


@agree("Two worktrees of a bare repository")
def _worktrees_of_bare(at: Path) -> list[Path | str]:
    make(at / "first")
    subprocess.run(["git", "clone", "-q", "--bare", str(at / "first"), str(at / "shop.git")], check=True)
    git(at / "shop.git", "remote", "remove", "origin")
    git(at / "shop.git", "worktree", "add", "-q", str(at / "a"), "main")
    git(at / "shop.git", "worktree", "add", "-q", "-b", "b", str(at / "b"))
    return [at / "a", at / "b", at / "shop.git"]


@agree("A bare repository with a remote, a worktree that was put into it, and its own folders")
def _worktree_in_bare(at: Path) -> list[Path | str]:
    make(at / "first")
    subprocess.run(["git", "clone", "-q", "--bare", str(at / "first"), str(at / "shop.git")], check=True)
    git(at / "shop.git", "remote", "set-url", "origin", REMOTE)
    git(at / "shop.git", "worktree", "add", "-q", "-b", "tree", "tree")
    return [at / "shop.git", at / "shop.git" / "tree", at / "shop.git" / "refs" / "heads", make(at / "one", REMOTE)]


@agree("A repository without a remote and the git directory in it")
def _inside_git(at: Path) -> list[Path | str]:
    return [make(at / "one"), at / "one" / ".git", at / "one" / ".git" / "hooks"]


@agree("A submodule without a remote and a worktree of it")
def _submodule_worktree(at: Path) -> list[Path | str]:
    make(at / "library")
    outer = make(at / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(at / "library"), "vendored")
    git(outer / "vendored", "remote", "remove", "origin")
    git(outer / "vendored", "worktree", "add", "-q", str(at / "tree"))
    return [outer / "vendored", at / "tree"]


@agree("A repository in a folder, a clone of it, a clone of the clone, one by file://")
def _clone_of_folder(at: Path) -> list[Path | str]:
    make(at / "one")
    clone(at / "one", at / "two")
    clone(at / "two", at / "three")
    return [at / "one", at / "two", at / "three", clone(f"file://{at / 'one'}", at / "four")]


@agree("A clone of a folder that has a remote of its own is that remote's project")
def _clone_of_clone(at: Path) -> list[Path | str]:
    make(at / "one", REMOTE)
    return [at / "one", clone(at / "one", at / "two")]


@agree("Two clones of a bare repository on this disk, and it")
def _bare(at: Path) -> list[Path | str]:
    make(at / "first")
    subprocess.run(["git", "clone", "-q", "--bare", str(at / "first"), str(at / "shop.git")], check=True)
    git(at / "shop.git", "remote", "remove", "origin")
    return [clone(at / "shop.git", at / "a"), clone(at / "shop.git", at / "b"), at / "shop.git"]


@agree("A fork that was told to be the same, by git config")
def _told(at: Path) -> list[Path | str]:
    one, fork = make(at / "one", REMOTE), make(at / "fork", "git@example.com:me/shop.git")
    git(fork, "config", "recollect.project", "example.com/team/shop")
    return [one, fork]


@agree("Repositories with and without a remote that were told one name, and a worktree of one of them")
def _told_both(at: Path) -> list[Path | str]:
    one, two = make(at / "one", REMOTE), make(at / "two")
    for each in (one, two):
        git(each, "config", "recollect.project", "Our shop; the #1")
    git(two, "worktree", "add", "-q", str(at / "tree"))
    return [one, two, at / "tree"]


@agree("A folder without git and a symbolic link to it")
def _linked(at: Path) -> list[Path | str]:
    (at / "notes").mkdir()
    (at / "link").symlink_to(at / "notes")
    return [at / "notes", at / "link"]


@agree("One folder of Windows, as Windows, Git and WSL write it")
def _paths(at: Path) -> list[Path | str]:
    return [
        r"C:\Users\me\p", r"c:\Users\me\p", "C:/Users/me/p", "c:/Users/me/p/", r"C:\Users\me\.\x\..\p",
        r"\\?\C:\Users\me\p", at / "mnt" / "c" / "Users" / "me" / "p", rf"\\wsl$\Ubuntu{at}\mnt\c\Users\me\p",
    ]  # fmt: skip


@agree("One folder of WSL, as WSL and as Windows writes it")
def _wsl_paths(at: Path) -> list[Path | str]:
    inside = str(at / "p").replace("/", "\\")
    return [
        at / "p", rf"\\wsl$\Ubuntu{inside}", rf"\\wsl.localhost\Ubuntu{inside}", f"//wsl$/Debian{at / 'p'}",
        rf"\\WSL.LOCALHOST\Ubuntu{inside}\\", rf"\\?\UNC\wsl$\Ubuntu{inside}",
    ]  # fmt: skip


@agree("A repository on a drive of Windows, seen by both, and a folder in it")
def _windows_repository(at: Path) -> list[Path | str]:
    make(at / "mnt" / "c" / "src" / "shop")
    (at / "mnt" / "c" / "src" / "shop" / "deep").mkdir()
    return [r"C:\src\shop", at / "mnt" / "c" / "src" / "shop", r"c:\src\shop\deep"]


@agree("Clones whose remote is one folder of Windows, in every way it is written, and that folder")
def _windows_remotes(at: Path) -> list[Path | str]:
    remotes = (r"C:\src\shop", "c:/src/shop", "file:///C:/src/shop", r"C:\src\shop\.git", f"{at}/mnt/c/src/shop/.git")
    clones = [make(at / str(number), remote) for number, remote in enumerate(remotes)]
    return [make(at / "mnt" / "c" / "src" / "shop"), *clones]


@agree("The same with a space in it, and where the folder is not there")
def _windows_remotes_with_spaces(at: Path) -> list[Path | str]:
    remotes = (r"C:\My Work\shop", "c:/My Work/shop", "file:///C:/My%20Work/shop")
    return [make(at / str(number), remote) for number, remote in enumerate(remotes)]


@agree("Clones whose remote is one folder of WSL, as Windows writes it")
def _wsl_remotes(at: Path) -> list[Path | str]:
    inside = str(at / "shop")
    remotes = ("\\\\wsl$\\Ubuntu" + inside.replace("/", "\\"), f"file://wsl.localhost/Ubuntu{inside}", f"file:////wsl$/U{inside}",
               f"file://localhost{inside}")  # fmt: skip
    return [make(at / "shop"), *(make(at / str(number), remote) for number, remote in enumerate(remotes))]


@agree("A worktree that git for Windows made, with backslashes in its pointers, seen from WSL")
def _windows_worktree(at: Path) -> list[Path | str]:
    main = make(at / "mnt" / "c" / "src" / "shop")
    tree = at / "mnt" / "c" / "src" / "tree"
    git(main, "worktree", "add", "-q", str(tree))
    (tree / ".git").write_text("gitdir: C:\\src\\shop\\.git\\worktrees\\tree\n")
    (main / ".git" / "worktrees" / "tree" / "commondir").write_text("..\\..\n")
    return [main, tree]


@agree("A worktree whose pointer is relative, with backslashes")
def _relative_pointer(at: Path) -> list[Path | str]:
    main = make(at / "main", REMOTE)
    git(main, "worktree", "add", "-q", str(at / "tree"))
    (at / "tree" / ".git").write_text("gitdir: ..\\main\\.git\\worktrees\\tree\r\n")
    return [main, at / "tree"]


@differ("Forks, though one has the other as upstream")
def _forks(at: Path) -> list[Path | str]:
    fork = make(at / "fork", "git@example.com:me/shop.git")
    git(fork, "remote", "add", "upstream", REMOTE)
    return [make(at / "one", REMOTE), fork]


@differ("A submodule and the repository around it, with remotes")
def _submodule(at: Path) -> list[Path | str]:
    outer = make(at / "outer", REMOTE)
    library = make(at / "library", "git@example.com:team/library.git")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "vendored")
    return [outer, outer / "vendored"]


@differ("A submodule and the repository around it, without remotes")
def _submodule_without_remote(at: Path) -> list[Path | str]:
    outer = make(at / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(make(at / "library")), "vendored")
    git(outer / "vendored", "remote", "remove", "origin")
    return [outer, outer / "vendored", at / "library"]


@differ("Folders without git, one in the other and one beside it, and a repository in it")
def _folders(at: Path) -> list[Path | str]:
    (at / "notes" / "inner").mkdir(parents=True)
    return [at / "notes", at / "notes" / "inner", at / "other", make(at / "notes" / "shop")]


@differ("A repository without a remote and a copy of it, after the name was kept")
def _copies(at: Path) -> list[Path | str]:
    keep_name(str(make(at / "one")))
    shutil.copytree(at / "one", at / "copy")
    return [at / "one", at / "copy"]


@differ("The same path on two drives, on none, and one that only looks like a drive")
def _drives(at: Path) -> list[Path | str]:
    return [r"C:\p", r"D:\p", "/p", at / "mnt" / "cc" / "p", r"\\server\share\p"]


@differ("The same path on two hosts, and in another's name")
def _hosts(at: Path) -> list[Path | str]:
    remotes = (REMOTE, "git@example.org:team/shop.git", "git@example.com:other/shop.git")
    return [make(at / str(number), remote) for number, remote in enumerate(remotes)]


@pytest.mark.parametrize("case", AGREE)
def test_these_are_one_project(tmp_path: Path, case: str) -> None:
    """Every folder of the case has the same name."""
    folders = AGREE[case](tmp_path)
    names = [project(folder) for folder in folders]
    assert len(set(names)) == 1, dict(zip(folders, names, strict=True))
    assert names[0]


@pytest.mark.parametrize("case", DIFFER)
def test_these_are_projects_of_their_own(tmp_path: Path, case: str) -> None:
    """No two folders of the case have the same name."""
    folders = DIFFER[case](tmp_path)
    names = [project(folder) for folder in folders]
    assert len(set(names)) == len(folders), dict(zip(folders, names, strict=True))


@pytest.mark.parametrize(
    ("host", "known"),
    [("short", "short.example.com"), *((each, each) for each in ("example.com", "elsewhere", "box", "plain", "none"))],
)
def test_which_host_a_name_stands_for(tmp_path: Path, host: str, known: str) -> None:
    """A name is followed to a host that others know too; one that is such a host, or leads to an address, is not."""
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    (tmp_path / "home" / ".ssh" / "config").write_text(SSH_CONFIG)
    assert project(make(tmp_path / "one", f"git@{host}:team/shop.git")) == f"{known}/team/shop"


def test_how_a_folder_of_windows_is_spelled(tmp_path: Path) -> None:
    """With the drive in front and slashes, whoever asks."""
    assert project(tmp_path / "mnt" / "c" / "Users" / "me") == project("c:\\Users\\me") == "C:/Users/me"
    assert project(r"\\server\share\p") == "//server/share/p"


@pytest.mark.parametrize("folder", ["/", "C:\\", "c:/", r"C:\Windows\System32", "~"])
def test_where_nobody_stands_is_no_project(folder: str) -> None:
    """The root, one's home, and where Windows starts programs belong to no project."""
    assert project(os.path.expanduser(folder)) is None
    assert find_root(os.path.expanduser(folder)) is None


def test_a_home_that_is_a_repository_is_a_project(tmp_path: Path) -> None:
    """Whoever keeps their home in git means it."""
    make(tmp_path / "home", REMOTE)
    assert project(tmp_path / "home") == "example.com/team/shop"


def test_a_moved_repository_keeps_its_name(tmp_path: Path) -> None:
    """With a remote by that; without one by the name that it kept, however often it moves and whatever holds it."""
    make(tmp_path / "with", REMOTE).rename(tmp_path / "with-moved")
    assert project(tmp_path / "with-moved") == "example.com/team/shop"
    first = str(make(tmp_path / "one"))
    keep_name(first)
    for here, there in (("one", "two"), ("two", "three")):
        (tmp_path / here).rename(tmp_path / there)
        assert project(tmp_path / there) == first
        keep_name(str(tmp_path / there))
        assert project(tmp_path / there) == first
    git(tmp_path / "three", "worktree", "add", "-q", str(tmp_path / "tree"))
    assert project(tmp_path / "tree") == first
    assert project(clone(tmp_path / "three", tmp_path / "clone")) == first


def test_a_repository_that_nothing_was_remembered_in_moves_to_another_name(tmp_path: Path) -> None:
    """Looking writes nothing, so there is nothing to keep."""
    make(tmp_path / "one")
    before = sorted(os.listdir(tmp_path / "one" / ".git"))
    project(tmp_path / "one")
    find_root(str(tmp_path / "one"))
    assert sorted(os.listdir(tmp_path / "one" / ".git")) == before
    (tmp_path / "one").rename(tmp_path / "two")
    assert project(tmp_path / "two") == str(tmp_path / "two")


def test_the_name_is_kept_once_something_is_remembered(tmp_path: Path) -> None:
    """A recall, or a memory of another project or of none, leaves no trace in a repository; one of its own does."""
    config = Config(str(tmp_path / "memory.db"), "personal", str(make(tmp_path / "one")), None)
    kept = tmp_path / "one" / ".git" / "recollect"
    with wiring.open_recollect(config) as memory:
        memory.recall("anything")
        memory.remember("elsewhere", project="another")
        memory.remember("everywhere", project=None)
        assert not kept.exists()
        memory.remember("here")
    assert kept.read_text() == f"{tmp_path / 'one'}\n"
    (tmp_path / "one").rename(tmp_path / "two")
    with wiring.open_recollect(replace(config, folder=str(tmp_path / "two"))) as memory:
        assert [result.memory.content for result in memory.recall("here").results] == ["here"]


def test_what_the_environment_says_goes_first(tmp_path: Path) -> None:
    """With RECOLLECT_PROJECT set, empty too, the folder is not asked and nothing is put into it."""
    folder = make(tmp_path / "one")
    for name, expected in (("fork of shop", "fork of shop"), ("", None)):
        config = Config(str(tmp_path / "memory.db"), "personal", str(folder), name)
        with wiring.open_recollect(config) as memory:
            assert memory.remember("text").project == expected
    assert not (folder / ".git" / "recollect").exists()


def test_a_copy_that_remembers_has_a_name_of_its_own(tmp_path: Path) -> None:
    """It keeps that name also when the original is gone; the original keeps its own."""
    keep_name(str(make(tmp_path / "one")))
    shutil.copytree(tmp_path / "one", tmp_path / "copy")
    keep_name(str(tmp_path / "copy"))
    (tmp_path / "one").rename(tmp_path / "moved")
    assert [project(tmp_path / each) for each in ("moved", "copy")] == [str(tmp_path / "one"), str(tmp_path / "copy")]


@pytest.mark.parametrize("where", ["remote", "told", "no git"])
def test_a_name_that_needs_no_keeping_is_not_written(tmp_path: Path, where: str) -> None:
    """Nothing is put into a repository that is known by its remote or by what it was told, nor into a folder."""
    folder = tmp_path / "one"
    if where == "no git":
        folder.mkdir()
    else:
        make(folder, REMOTE if where == "remote" else "")
    if where == "told":
        git(folder, "config", "recollect.project", "ours")
    before = sorted(each.name for each in folder.rglob("*"))
    keep_name(str(folder))
    assert sorted(each.name for each in folder.rglob("*")) == before


def test_a_repository_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the name cannot be kept, whoever remembers is not kept from it, and nothing is left behind."""
    make(tmp_path / "one")

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "replace", refuse)
    keep_name(str(tmp_path / "one"))
    assert project(tmp_path / "one") == str(tmp_path / "one")
    assert not [name for name in os.listdir(tmp_path / "one" / ".git") if name.startswith("recollect")]


@pytest.mark.parametrize("kept", [b"", b"\n", b"\xff\x00", b"two\nlines"])
def test_a_kept_name_that_is_none_is_not_believed(tmp_path: Path, kept: bytes) -> None:
    """What is no name on one line leaves the folder's."""
    (make(tmp_path / "one") / ".git" / "recollect").write_bytes(kept)
    assert project(tmp_path / "one") == str(tmp_path / "one")


@pytest.mark.parametrize(
    "remote",
    [
        "https://ana:s3cret@example.com/team/shop", "https://s3cret@example.com/team/shop.git",
        "ana:s3cret@example.com:team/shop", "ssh://ana:s3cret@example.com:22/team/shop", "https://example.com/team/shop?token=s3cret",
        "file://ana:s3cret@example.com/team/shop", "HTTPS://ANA:s3cret@EXAMPLE.COM/team/shop#s3cret",
    ],
)  # fmt: skip
@pytest.mark.parametrize("how", ["remote", "told", "clone of it", "moved"])
def test_credentials_never_appear(tmp_path: Path, remote: str, how: str) -> None:
    """Neither in the name, nor in what is kept in the git directory."""
    folder = make(tmp_path / "one", "" if how == "told" else remote)
    if how == "told":
        git(folder, "config", "recollect.project", remote)
    if how == "clone of it":
        folder = clone(folder, tmp_path / "two")
    if how == "moved":
        folder = folder.rename(tmp_path / "moved")
    keep_name(str(folder))
    assert "s3cret" not in str(project(folder))
    kept = folder / ".git" / "recollect"
    assert not kept.exists() or b"s3cret" not in kept.read_bytes()


def test_remotes_in_a_circle_end(tmp_path: Path) -> None:
    """Two repositories that have each other as their remote each get a name."""
    one, two = make(tmp_path / "one", str(tmp_path / "two")), make(tmp_path / "two", str(tmp_path / "one"))
    assert {project(one), project(two)} <= {str(one), str(two)}


@pytest.mark.parametrize("name", [b"two\nlines", b"\xff", "tab\there\u2028".encode()])
def test_a_folder_of_any_name_can_be_remembered_in(tmp_path: Path, name: bytes) -> None:
    """Its project can be stored, whatever bytes its path is of."""
    folder = os.path.join(os.fsencode(tmp_path), name)
    os.mkdir(folder)
    known = project(os.fsdecode(folder))
    with open_recollect(tmp_path / "here.db", StandingClock(), project=known) as memory:
        assert memory.remember("text").project == known


def test_the_root_of_a_project(tmp_path: Path) -> None:
    """It is the top of this worktree, or outside git the folder itself."""
    git(make(tmp_path / "main"), "worktree", "add", "-q", str(tmp_path / "tree"))
    (tmp_path / "tree" / "deep").mkdir()
    assert find_root(str(tmp_path / "tree" / "deep")) == str(tmp_path / "tree")
    assert find_root(str(tmp_path)) == str(tmp_path)
