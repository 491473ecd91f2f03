"""Nobody ever sees or changes what is not theirs, whatever anybody does, also when ids are guessed.

Once with the program's predicate, and with test doubles in its place that allow everything, so that the database alone
holds. `RECOLLECT_WALL_EXAMPLES` says how many examples are played, of 80 steps each; with the doubles two in five.
"""

import ast
import inspect
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import Phase, settings

import recollect
from emptying import Emptier
from postgres import made_database
from recollect.api.app import create_app
from recollect.core.access import Caller, Role, allows
from recollect.core.directory import Keys
from recollect.service.server import Server
from serving import DOCUMENT, in_process, open_test_server, with_toys
from walls.asking import Stage
from walls.machine import play

EXAMPLES = int(os.environ.get("RECOLLECT_WALL_EXAMPLES", "15"))
STEPS = 80


class Everywhere(dict[str, Role]):
    """The roles of somebody who administers whatever space is asked about."""

    def get(self, _space: object, _default: object = None) -> Role:
        return "admin"

    def __contains__(self, _space: object) -> bool:
        return True


class GullibleKeys:
    """Knows whose a key is, and takes them for somebody who runs the server and administers everything."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self.note_use = keys.note_use

    def find(self, prefix: str) -> tuple[bytes, Caller] | None:
        found = self._keys.find(prefix)
        if found is None:
            return None
        digest, caller = found
        spaces = Everywhere(caller.spaces)
        return digest, replace(caller, scope="admin", admin=True, restricted=False, spaces=spaces)


@dataclass(frozen=True)
class Ground:
    """A server over a database of its own, which can be emptied, and a look behind its walls."""

    server: Server
    watch: psycopg.Connection[tuple[object, ...]]
    emptier: Emptier

    def play(self, name: str, examples: int, *, server: Server | None = None, **more: Any) -> Stage:  # noqa: ANN401
        with in_process(server or self.server) as http:
            stage = Stage(name, server or self.server, http, self.watch, self.emptier.empty, **more)
            phases = [Phase.generate, Phase.shrink]
            try:
                play(stage, settings(max_examples=examples, stateful_step_count=STEPS + 1, phases=phases))
            finally:
                # Shown by `pytest -s`, or with a failure.
                print(f"\n{name}: {stage.figures}")  # noqa: T201
        return stage


@contextmanager
def open_ground(postgres_url: str, template: str) -> Iterator[Ground]:
    with made_database(postgres_url, f"TEMPLATE {template} STRATEGY FILE_COPY") as url:
        server = with_toys(open_test_server(url))
        with psycopg.connect(url, autocommit=True) as watch, closing(Emptier(url)) as emptier:
            yield Ground(server, watch, emptier)
        server.close()


def assert_most(steps: int, examples: int) -> None:
    """See that about as many steps were taken as asked for: Hypothesis now and then ends an example early."""
    assert steps >= 0.9 * examples * STEPS


@pytest.fixture(scope="module")
def ground(postgres_url: str, template_database: str) -> Iterator[Ground]:
    with open_ground(postgres_url, template_database) as opened:
        yield opened


def test_nobody_sees_or_changes_what_is_not_theirs(ground: Ground) -> None:
    """Whatever anybody does over whichever endpoint or tool, it shows and changes what their key opens and no more."""
    stage = ground.play("both walls", EXAMPLES)
    documented = {f"{method.upper()} {path}" for path, methods in DOCUMENT["paths"].items() for method in methods}
    assert documented <= stage.asked.keys()
    assert_most(stage.steps, EXAMPLES)


@pytest.mark.parametrize("gullible", [False, True], ids=["predicate", "caller"])
def test_the_database_holds_by_itself(ground: Ground, gullible: bool) -> None:
    """The same where the program's predicate allows everything, and where the program believes that everybody may."""
    boundless = replace(ground.server, allows=lambda *_: True)
    if gullible:
        boundless = replace(boundless, keys=GullibleKeys(boundless.keys))
    examples = max(1, EXAMPLES * 2 // 5)
    stage = ground.play(f"one wall {gullible}", examples, server=boundless, walls_alone=True, gullible=gullible)
    assert_most(stage.steps, examples)


@pytest.mark.parametrize("wall", ["program", "database"])
def test_a_missing_wall_is_noticed(postgres_url: str, template_database: str, wall: str) -> None:
    """Where the program allows everything, and more so where the database does too, the machine finds out at once."""
    with open_ground(postgres_url, template_database) as ground:
        boundless = replace(ground.server, allows=lambda *_: True)
        if wall == "database":
            for table in ("spaces", "memories"):
                ground.watch.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY".encode())
        with in_process(boundless) as http:
            alone = wall == "database"
            stage = Stage(wall, boundless, http, ground.watch, ground.emptier.empty, walls_alone=alone)
            with pytest.raises(AssertionError):
                play(stage, settings(max_examples=2, phases=[Phase.generate], report_multiple_bugs=False))


def test_nothing_but_a_test_replaces_the_predicate(ground: Ground) -> None:
    """A server as it is opened has the one predicate, and no line of the program gives it another."""
    assert ground.server.allows is allows
    assert "allows" not in inspect.signature(create_app).parameters
    for path in Path(recollect.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            assert not (isinstance(node, ast.keyword) and node.arg == "allows"), path
            assert not (isinstance(node, ast.Attribute) and node.attr == "allows" and isinstance(node.ctx, ast.Store))
            assert not (isinstance(node, ast.Constant) and node.value == "allows"), path
