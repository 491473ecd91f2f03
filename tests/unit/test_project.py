"""Which project a folder is, asked of repositories that git itself made."""

import os
import subprocess
from pathlib import Path

import pytest

from recollect.project import identify_project, normalise_remote

NAME = "github.com/owner/name"
ADDRESSES = [
    "https://github.com/owner/name.git",
    "https://github.com/owner/name",
    "https://github.com/owner/name/",
    "https://github.com/owner/name.git/",
    "https://user:secret@github.com/owner/name.git",
    "https://user:p@ss@github.com/owner/name.git",
    "https://ghp_secret@github.com:443/owner/name.git",
    "https://github.com/owner/name.git?access_token=secret",
    "https://github.com/owner/name.git#secret",
    "HTTPS://GitHub.COM//owner//name",
    "http://github.com/owner/name",
    "ssh://git@github.com/owner/name.git",
    "ssh://git:secret@github.com:22/owner/name",
    "git+ssh://git@github.com/owner/name.git",
    "git://github.com/owner/name.git",
    "git@github.com:owner/name.git",
    "user:secret@github.com:owner/name.git",
    "github.com:owner/name",
    "git@github.com:/owner/name.git",
    "  git@github.com:owner/name.git  ",
]


@pytest.fixture(autouse=True)
def _git_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the git of these tests from the configuration and the repository of whoever runs them."""
    for name in tuple(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Tester")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "tester@example.com")


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _repository(folder: Path, remote: str | None = None) -> Path:
    folder.mkdir(parents=True)
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    if remote is not None:
        _git(folder, "remote", "add", "origin", remote)
    return folder


def _project(folder: Path) -> str | None:
    return identify_project(str(folder))


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_way_to_write_a_remote_gives_one_name(address: str) -> None:
    """Host and path are left of an address; scheme, credentials, port and ending are not."""
    assert normalise_remote(address) == NAME


def test_nothing_secret_is_left_in_a_name() -> None:
    """No way of writing credentials into a remote leaves them in the project's name."""
    assert not [address for address in ADDRESSES if "secret" in str(normalise_remote(address))]


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://gitlab.com/group/sub/name.git", "gitlab.com/group/sub/name"),
        ("git@host:name.git", "host/name"),
        ("ssh://git@[::1]:2222/owner/name.git", "[::1]/owner/name"),
        ("https://dev.azure.com/Org/Project/_git/Repo", "dev.azure.com/Org/Project/_git/Repo"),
        ("", None),
        ("https://", None),
        ("https://github.com", None),
        ("../sibling.git", None),
        ("name", None),
        ("file://host/share/name.git", None),
    ],
)
def test_other_remotes(address: str, name: str | None) -> None:
    """Deeper paths keep their case and depth; what names no place gives no name."""
    assert normalise_remote(address) == name


@pytest.mark.parametrize("address", ADDRESSES[:-1])
def test_a_repository_is_known_by_its_origin(tmp_path: Path, address: str) -> None:
    """However git wrote the remote down, the project is the remote's name, from any folder inside."""
    repository = _repository(tmp_path / "somewhere", address)
    (repository / "deep" / "down").mkdir(parents=True)
    assert _project(repository) == NAME
    assert _project(repository / "deep" / "down") == NAME


def test_two_clones_of_one_remote_agree(tmp_path: Path) -> None:
    """A clone over https and one over ssh are the same project wherever they lie."""
    one = _repository(tmp_path / "one", "https://token:x@github.com/owner/name")
    two = _repository(tmp_path / "elsewhere" / "two", "git@github.com:owner/name.git")
    assert _project(one) == _project(two) == NAME


def test_a_repository_without_a_remote_is_its_folder(tmp_path: Path) -> None:
    """Without a remote the project is the repository's folder, seen through symbolic links."""
    repository = _repository(tmp_path / "alone")
    (repository / "inside").mkdir()
    (tmp_path / "link").symlink_to(repository)
    expected = os.path.realpath(repository)
    assert _project(repository) == _project(repository / "inside") == _project(tmp_path / "link") == expected


def test_no_repository_is_its_folder(tmp_path: Path) -> None:
    """A folder outside any repository, there or not, is known by its path."""
    assert _project(tmp_path) == os.path.realpath(tmp_path)
    assert _project(tmp_path / "missing") == os.path.realpath(tmp_path / "missing")


@pytest.mark.parametrize("remote", [None, "git@github.com:owner/name.git"])
def test_a_worktree_is_the_same_project(tmp_path: Path, remote: str | None) -> None:
    """A linked worktree belongs to the project of its repository, with a remote and without."""
    repository = _repository(tmp_path / "main", remote)
    _git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    assert (tmp_path / "tree" / ".git").is_file()
    assert _project(tmp_path / "tree") == _project(repository)


def test_a_clone_of_a_folder_is_the_project_of_that_folder(tmp_path: Path) -> None:
    """A remote that is a local folder names the same project as the repository in that folder."""
    original = _repository(tmp_path / "original")
    _git(tmp_path, "clone", "-q", str(original), str(tmp_path / "copy"))
    assert _project(tmp_path / "copy") == _project(original)
    _git(tmp_path, "clone", "-q", f"file://{original}", str(tmp_path / "second"))
    assert _project(tmp_path / "second") == _project(original)


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    """A submodule is known by its own remote, not by the repository around it."""
    library = _repository(tmp_path / "library")
    outer = _repository(tmp_path / "outer", "git@github.com:owner/name.git")
    _git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "vendored")
    assert _project(outer / "vendored") == os.path.realpath(library)
    _git(outer / "vendored", "remote", "set-url", "origin", "https://example.com/else/library.git")
    assert _project(outer / "vendored") == "example.com/else/library"
    assert _project(outer) == NAME


def test_a_git_directory_kept_elsewhere(tmp_path: Path) -> None:
    """A repository whose git directory lies elsewhere is still known by its remote."""
    (tmp_path / "work").mkdir()
    _git(tmp_path / "work", "init", "-q", f"--separate-git-dir={tmp_path / 'kept.git'}")
    _git(tmp_path / "work", "remote", "add", "origin", "git@github.com:owner/name.git")
    assert _project(tmp_path / "work") == NAME


def test_origin_goes_before_other_remotes(tmp_path: Path) -> None:
    """The first remote there is counts only when there is no origin."""
    repository = _repository(tmp_path / "fork")
    _git(repository, "remote", "add", "upstream", "https://github.com/upstream/name")
    _git(repository, "remote", "add", "backup", "https://github.com/backup/name")
    assert _project(repository) == "github.com/upstream/name"
    _git(repository, "remote", "add", "origin", "https://github.com/owner/name")
    assert _project(repository) == NAME


@pytest.mark.parametrize(
    "config",
    [
        '[remote "origin"]\n\turl = "https://github.com/owner/name.git"\n',
        '[remote "origin"]\r\n\turl = https://github.com/owner/name.git\r\n',
        '# a comment\n; another\n[core]\n\turl = x\n[remote "origin"]\nurl=https://github.com/owner/name\n',
        '[remote "origin"]\n\tpushurl = y\n\turl = https://github.com/owner/name\n[branch "url"]\n\turl = y\n',
        '[remote "origin"]\n\turl = https://github.com/owner/name.git ; the old place\n',
        '[remote "origin"]\n\turl = https://github.com/owner/name.git # the old place\n',
        '[remote "origin"]\n\tURL = https://github.com/owner/name.git\n',
        '[Remote "origin"]\n\turl = https://github.com/owner/name.git\n',
        '[remote "origin"] url = https://github.com/owner/name.git\n',
        '[remote "origin"]\n\turl = https://github.com/\\\nowner/name.git\n',
        '[remote "origin"]\n\turl = "https://github.com"/owner/"name".git\n',
        '[remote "o\\rigin"]\n\turl = https://github.com/owner/name.git\n',
    ],
)
def test_the_config_is_read_as_git_reads_it(tmp_path: Path, config: str) -> None:
    """Quotes, comments, line ends and capitals in git's config mean to us what they mean to git."""
    repository = _repository(tmp_path / "odd")
    (repository / ".git" / "config").write_bytes(config.encode())
    assert normalise_remote(_git(repository, "config", "remote.origin.url")) == NAME
    assert _project(repository) == NAME


@pytest.mark.parametrize("config", [b"", b"\xff\xfe\x00 not text", b'[remote "origin"]\n\turl =\n', b"[remote\n"])
def test_a_config_that_says_nothing_leaves_the_folder(tmp_path: Path, config: bytes) -> None:
    """An empty or broken config is as good as no remote, and no error."""
    repository = _repository(tmp_path / "odd")
    (repository / ".git" / "config").write_bytes(config)
    assert _project(repository) == os.path.realpath(repository)


@pytest.mark.parametrize("pointer", ["", "nonsense", "gitdir: /nowhere/at/all", "gitdir: ../elsewhere/.git"])
def test_a_git_file_that_leads_nowhere_is_no_error(tmp_path: Path, pointer: str) -> None:
    """A `.git` file that is broken or points to what is gone never keeps anyone from remembering."""
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / ".git").write_text(pointer)
    assert isinstance(_project(tmp_path / "odd"), str | None)
