"""What the hooks that give something have in common."""

import time
from contextlib import closing
from pathlib import Path

import pytest

from hook_home import Home
from making import make_memory
from recollect.config import Config
from recollect.hooks import prompt, session_start
from recollect.hooks.clients import PROMPT, SESSION_START, Event, give_context
from recollect.hooks.giving import give, held_by
from recollect.journal import given
from recollect.project import project_of
from recollect.service.inject import Injection
from recollect.stores.sqlite.glance import Glance

EVENT = Event("claude-code", PROMPT, session="s")
FOUND = Injection("text", (make_memory(1), make_memory(2)), 40)


def _run(event: Event, written: list[dict[str, object]]) -> None:
    if event.hook == PROMPT:
        prompt.run(event, time.perf_counter(), 60.0, written.append)
    else:
        session_start.run(event, time.perf_counter(), written.append)


@pytest.mark.parametrize(
    ("override", "folder", "project"),
    [
        (None, "shop", "github.com/acme/shop"),
        (None, "", None),
        ("", "shop", None),
        ("mine", "shop", "mine"),
        ("mine", "", "mine"),
    ],
)
def test_the_project_is_of_the_clients_folder(
    tmp_path: Path, override: str | None, folder: str, project: str | None
) -> None:
    """It is where the client stands, unless the user says otherwise; a client that does not say stands nowhere."""
    git = tmp_path / "shop" / ".git"
    git.mkdir(parents=True)
    (git / "config").write_text('[remote "origin"]\n\turl = git@github.com:acme/shop.git\n')
    config = Config(store="", space="personal", folder=str(git), project=override)
    assert project_of(config.project, str(tmp_path / folder) if folder else "") == project


@pytest.mark.parametrize("hook", [PROMPT, SESSION_START])
def test_outside_of_a_project_nothing_of_one_is_given(home: Home, hook: str) -> None:
    """Who stands nowhere in particular is given what holds everywhere, and not what other projects say of it."""
    general = make_memory(1, "The staging port is mine to choose.", tags=("pinned",))
    theirs = make_memory(2, "The staging port is 5433.", tags=("pinned",), project="github.com/acme/shop")
    home.keep(general, theirs)
    written: list[dict[str, object]] = []
    _run(Event("claude-code", hook, session="s", prompt="which staging port?"), written)
    assert general.content in str(written)
    assert theirs.content not in str(written)


def test_what_a_session_was_given_is_held(home: Home) -> None:
    """What was noted is what the next hook leaves out."""
    written: list[dict[str, object]] = []
    give(FOUND, EVENT, home.journal, time.perf_counter() - 0.5, written.append)
    assert written == [give_context(EVENT, FOUND.text)]
    assert given.held(home.journal, "s").keys() == {memory.id for memory in FOUND.memories}
    usage = home.usage()
    assert (usage.given, usage.tokens) == (2, 40)
    assert usage.median_ms >= 500


def test_what_could_not_be_given_is_not_held(home: Home) -> None:
    """When time is over, or the client is gone, before the answer is out, the next prompt gets it."""
    with pytest.raises(BrokenPipeError):
        give(FOUND, EVENT, home.journal, time.perf_counter(), _fail)
    assert given.held(home.journal, "s").keys() == frozenset()
    assert home.usage().given == 0


@pytest.mark.parametrize("hook", [PROMPT, SESSION_START])
def test_closing_the_store_keeps_nobody_waiting(home: Home, monkeypatch: pytest.MonkeyPatch, hook: str) -> None:
    """It can take longer than a hook has, after a process that was killed: by then the answer is out and noted."""
    home.keep(make_memory(1, "The staging port is 5433.", tags=("pinned",)))
    written: list[dict[str, object]] = []
    at_the_end: list[tuple[int, int]] = []
    really_close = Glance.close

    def close(store: Glance) -> None:
        at_the_end.append((len(written), len(given.held(home.journal, "s"))))
        really_close(store)

    monkeypatch.setattr(Glance, "close", close)
    event = Event("claude-code", hook, session="s", prompt="which staging port?")
    _run(event, written)
    assert at_the_end == [(1, 1)]


def test_silence_is_noted_as_nothing_given(home: Home) -> None:
    """It counts as a prompt at which nothing was said."""
    give(None, EVENT, home.journal, time.perf_counter(), _fail)
    assert (home.usage().prompts, home.usage().silent) == (1, 1)
    assert given.given_to(home.journal, "s") == []


def test_a_damaged_journal_holds_nothing_and_breaks_nothing(home: Home) -> None:
    """Better to say a thing twice than not at all."""
    home.keep(*FOUND.memories)
    home.damage_journal()
    written: list[dict[str, object]] = []
    give(FOUND, EVENT, home.journal, time.perf_counter(), written.append)
    assert len(written) == 1
    with closing(Glance(home.config.store, {}, patience=1.0)) as store:
        assert held_by(home.journal, "s", store, home.config.space) == frozenset()


def _fail(_: dict[str, object]) -> None:
    raise BrokenPipeError
