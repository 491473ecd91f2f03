"""What all rules of the machine share: who may, the putting of a request, and what must hold after each step."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from random import Random
from typing import Any, ClassVar, Final, TypeVar

from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from recollect.core.access import Deed
from walls.asking import Answer, Ask, check_marks, tool
from walls.permitted import MARK, Key, Space
from walls.scene import COMMON_WORDS, Scene

F = TypeVar("F", bound=Callable[..., None])
UNAUTHORISED: Final = 401
FORBIDDEN: Final = 403
MISSING: Final = 404
_SEEDS: Final = st.integers(0, (1 << 32) - 1)
_WATCHES: Final = 3
"""Steps for which somebody is watched."""


@dataclass(frozen=True)
class Watched:
    """Somebody, what they were shown, and what that may depend on."""

    key: Key
    view: list[str]
    scopes: set[str]
    left: int = _WATCHES


def deeds(times: int) -> Callable[[F], F]:
    """Have a method be one of those that a step is chosen from, more often the more there is to it."""

    def mark(method: F) -> F:
        method.times = times  # type: ignore[attr-defined]
        return method

    return mark


deed: Final = deeds(1)


class Play(Scene):
    deeds: ClassVar[list[str]] = []
    """What can be done, by name, as often as it is to be chosen."""

    def __init_subclass__(cls) -> None:
        cls.deeds = [name for name in dir(cls) for _ in range(getattr(getattr(cls, name), "times", 0))]

    def __init__(self) -> None:
        super().__init__()
        self.watched: Watched | None = None
        self._seed = self._acts = 0
        self.touched.clear()
        self._digests = self.stage.digests()

    # Who may.

    def judge(
        self, key: Key, deed: Deed, name: str | None, walls: Deed | None = None
    ) -> tuple[Space | None, int | None]:
        """Give the space in which a key may do something, or the status that it is refused with.

        `walls` is what the database itself asks for, where the program asks for more.
        """
        if not key.holds:
            return None, UNAUTHORISED
        name = name or self.model.own(key)
        space = self.model.reach(key).get(name) if name else None
        if space is None:
            return None, MISSING
        if not self.model.may(key, walls or deed if self.model.walls_alone else deed, space):
            return None, FORBIDDEN
        return space, None

    # Asking.

    def put(
        self,
        key: Key,
        ask: Ask,
        refusal: int | None,
        ok: int = 200,
        *,
        guessed: str | None = None,
        shows: Collection[str] = (),
    ) -> Answer | None:
        """Put a request that is to be refused, or to be answered with `ok`; give the answer if it did what was asked.

        `guessed` is the name in it that the asker may not see. Behind the walls alone, whatever is refused may be
        answered as of something empty, too.
        """
        answer = self._send(key, ask)
        check_marks(self.model, key, ask, answer, set(shows))
        if refusal is None:
            assert answer.status == ok, (answer, key, ask)
        else:
            assert answer.status == refusal or (self.model.walls_alone and refusal != UNAUTHORISED), (answer, key, ask)
        done = refusal is None and not answer.refused
        if guessed is not None and not done and refusal != UNAUTHORISED:
            self._compare(key, ask, answer, guessed)
        return answer if done else None

    def call(self, key: Key, ask: Ask, refusal: int | None, *, works: bool, guessed: str | None = None) -> Any:  # noqa: ANN401
        """Call a tool, and give its result if it is one that works and may be used."""
        answer = self._send(key, ask)
        check_marks(self.model, key, ask, answer, set())
        if refusal == UNAUTHORISED:
            assert answer.status == UNAUTHORISED, (answer, ask)
            return None
        result = answer.data["result"]
        if refusal is None:
            assert result["isError"] != works, (answer, key, ask)
        else:
            assert result["isError"] or self.model.walls_alone, (answer, key, ask)
        done = refusal is None and works
        if guessed is not None and not done:
            self._compare(key, ask, answer, guessed)
        return result["structuredContent"] if done else None

    def _send(self, key: Key, ask: Ask) -> Answer:
        answer = self.stage.send(ask, key.token)
        note(f"{key.prefix} of {key.person} ({key.scope}): {ask}\n    {answer.status} {answer.text:.300}")
        return answer

    def _compare(self, key: Key, ask: Ask, answer: Answer, guessed: str) -> None:
        """Put the request once more with a name that was never given to anything."""
        invented = self._invent(guessed)
        twin = self.stage.send(ask.naming(guessed, invented), key.token)
        self.stage.twins += 1
        assert answer.without(guessed) == twin.without(invented), (ask, key, guessed)

    def _invent(self, name: str) -> str:
        if "-" in name:
            return self.model.marks.identity()
        if not MARK.fullmatch(name):
            return "z" * len(name)
        return self.model.marks.name(name[2:4]) if name.startswith("qz") else self.model.marks.identity()[-8:]

    def unseen(self, key: Key, name: str | None) -> str | None:
        """Give a space's name if it is one that the key does not open."""
        return name if name not in self.model.reach(key) else None

    # What must hold.

    @initialize(seed=_SEEDS)
    def begin(self, seed: int) -> None:
        """Have no two examples do the same, though Hypothesis varies what it did before."""
        self._seed = seed

    @rule(seed=_SEEDS)
    def act(self, seed: int) -> None:
        """Have somebody do something.

        All that is chosen follows from one number: rules of their own for what can be done would be switched off by
        turns, and there are too few examples for that.
        """
        self._acts += 1
        self.stage.steps += 1
        self.random = Random(f"{self.stage.name} {self._seed} {seed or self._acts}")
        getattr(self, self.choose(self.deeds))()

    @invariant()
    def nothing_else_changed(self) -> None:
        """Of all that is in the database only what the step was let change is otherwise than before."""
        digests = self.stage.digests()
        changed = {each for each in digests.keys() | self._digests if digests.get(each) != self._digests.get(each)}
        assert changed <= self.touched, (changed, self.touched)
        self._digests = digests
        if self.watched is not None and changed:
            self._watch_on(self.watched, changed)
        self.touched = set()

    def watch(self, key: Key) -> None:
        """From now on see that what others do elsewhere changes nothing of what this key is shown."""
        self.watched = Watched(key, self._view(key), self._theirs(key))

    def _watch_on(self, watched: "Watched", changed: set[str]) -> None:
        theirs = watched.scopes | self._theirs(watched.key)
        left = watched.left if watched.key.holds and changed.isdisjoint(theirs) else 0
        if left:
            assert self._view(watched.key) == watched.view, (watched, changed)
        self.watched = replace(watched, left=left - 1) if left else None

    def _theirs(self, key: Key) -> set[str]:
        """Give all that what a key is shown may depend on."""
        people = self.model.people if self.model.runs_server(key) else [key.person]
        known = {"server", *(f"keys of {person}" for person in people)} | ({"people"} if len(people) > 1 else set())
        return known | {space.scope for space in self.model.reach(key).values()}

    def _view(self, key: Key) -> list[str]:
        """Give all that somebody is shown of where they are, as bytes."""
        reach = list(self.model.reach(key))
        asks = [Ask(f"GET /v1/{each}") for each in ("me", "spaces", "people", "keys", "vector-sets", "settings")]
        if reach:
            body = {"query": COMMON_WORDS, "spaces": reach, "limit": 1000, "explain": True}
            asks += [Ask("POST /v1/recall", body=body), tool("memory_stats", reach[0])]
        self.note_visit(key, *self.model.reach(key).values())
        answers = []
        for ask in asks:
            answer = self.stage.send(ask, key.token)
            check_marks(self.model, key, ask, answer, set())
            answers.append(answer.lasting)
        return answers

    def teardown(self) -> None:
        # What was read is not to be noted in the next example's database.
        self.flush_log()
        self.stage.empty()


def names_of(answer: Answer, what: str, by: str = "id") -> list[str]:
    """Give the names of the things in a list that was answered."""
    return [each[by] for each in answer.data[what]]
