"""Where the machine plays: people, spaces, keys and memories to begin with, whom to act as, and what to name.

Whatever is done is read back from behind the walls, so that the model knows what there is.
"""

from collections.abc import Collection
from random import Random
from typing import ClassVar, Final, TypeVar

from hypothesis.stateful import RuleBasedStateMachine

from making import use_model
from recollect.core.access import ROLES, KeyScope
from recollect.core.hits import Ref
from recollect.core.memory import Link, Memory
from recollect.service.access import issue_key
from recollect.stores.postgres.audit import PostgresLog
from walls.asking import Stage
from walls.permitted import Key, Model, Person, Space

T = TypeVar("T")
MODELS: Final = ("toy-one", "toy-two")
COMMON_WORDS: Final = "harbour book"
"""Stand in every memory."""


class Scene(RuleBasedStateMachine):
    stage: ClassVar[Stage]

    def __init__(self) -> None:
        super().__init__()
        self.server = self.stage.server
        self.store = self.server.open_store(None)
        self.model = Model(self.stage.walls_alone)
        self.random = Random(0)
        self.touched: set[str] = set()
        """What the step was let change, as the digests name it."""
        self.gone: list[str] = []
        """Names of spaces and people that are no more."""
        self.exports: list[str] = []
        self.sets = {MODELS[0]: True}
        """The vector sets, and whether each is the one in use."""
        self._populate()

    def _populate(self) -> None:
        """Have somebody who runs the server, four others, two teams with all roles in them, and keys of all kinds."""
        self.store.settings.set("leg-timeout-ms", 600_000)
        use_model(self.store, MODELS[0])
        directory = self.server.open_directory(None)
        people = [self.model.marks.name("pe") for _ in range(5)]
        for number, name in enumerate(people):
            directory.make_person(name, admin=not number)
            self.model.people[name] = Person(name, admin=not number)
            self.note_space(name, name, name)
            self.give_key(name, "admin")
        for first in (1, 2):
            team = self.model.marks.name("sp")
            directory.make_space(team, people[first])
            self.note_space(team, None, people[first])
            for person, role in zip(people[first + 1 :], ROLES[1::-1], strict=False):
                directory.set_member(team, person, role)
                self.model.spaces[team].roles[person] = role
            self.give_key(people[first], "read")
            self.give_key(people[first], "write")
            self.give_key(people[first + 1], "admin", team)
        for space in list(self.model.spaces.values()):
            self._furnish(space)

    def give_key(self, person: str, scope: KeyScope, *spaces: str) -> None:
        directory, name, clock = self.server.open_directory(None), self.model.marks.name("ke"), self.server.clock
        made, token = issue_key(directory, clock, None, name=name, scope=scope, person=person, spaces=spaces or None)
        self.touched.add(f"keys of {person}")
        self.model.people[person].had_key = True
        numbers = frozenset(self.model.spaces[space].number for space in spaces) if spaces else None
        self.model.keys.append(Key(made.prefix, token, person, scope, name, numbers))

    def note_space(self, name: str, owner: str | None, admin: str) -> Space:
        (number,) = self.stage.watch.execute("SELECT key FROM spaces WHERE id = %s", (name,)).fetchone() or (0,)
        space = Space(int(number), name, owner, {admin: "admin"}, logged={admin})
        self.model.spaces[name] = space
        return space

    def _furnish(self, space: Space) -> None:
        """Have two memories in a space, one of which the other replaces, and a sensitive one."""
        marks, now = self.model.marks, self.server.clock()
        made = [
            Memory(
                marks.identity(),
                space.name,
                f"{marks.name('wo')} stands in the {COMMON_WORDS}.",
                now,
                now,
                tags=(marks.name("ta"),),
                project=marks.name("pr") if number else None,
                session="shared",
                place=number,
                sensitive=number == 2,
            )
            for number in range(3)
        ]
        self.store.memories.add(made)
        self.store.links.add(Link(space.name, made[0].id, "supersedes", made[1].id, now))
        for memory in made:
            self.learn(space, memory.id)
        self.learn_links(space)

    def learn(self, space: Space, identity: str) -> list[Memory]:
        """Read from behind the walls what became of a memory, and note it."""
        self.touched.add(space.scope)
        states = [each.memory for each in self.store.memories.history(Ref(space.name, identity))]
        if states:
            space.memories[identity] = states
            space.logged.add(identity[-8:])
        else:
            space.memories.pop(identity, None)
        return states

    def learn_links(self, space: Space) -> None:
        self.touched.add(space.scope)
        found = [link for each in space.memories for link in self.store.links.all_of(Ref(space.name, each))]
        assert all(link.target in space.memories for link in found)
        space.links = {(link.source, link.kind, link.target) for link in found if link.ended_at is None}

    def note_visit(self, key: Key, *spaces: Space | None) -> None:
        """Note that the log of some spaces may name a key and its person."""
        for space in spaces:
            if space is not None:
                space.logged |= {key.prefix, key.person}

    def flush_log(self) -> None:
        assert isinstance(self.server.log, PostgresLog)
        self.server.log.flush()

    # Whom to act as and what to name.

    def choose(self, options: Collection[T]) -> T:
        return self.random.choice(list(options))

    def chance(self, one_in: int = 2) -> bool:
        return self.random.randrange(one_in) == 0

    def actor(self) -> Key:
        """Give somebody's key, now and then one that no longer holds."""
        holding = [key for key in self.model.keys if key.holds]
        if not holding:
            # The operator lets somebody in again.
            self.give_key(next(iter(self.model.people)), "admin")
            holding = self.model.keys[-1:]
        ended = [key for key in (*self.model.keys, *self.model.gone_keys) if not key.holds]
        return self.choose([*holding * 2, *ended[-2:]])

    def somewhere(self, key: Key) -> str | None:
        """Name a space: most often one that the key opens, else one of others, or one that is no more."""
        reach = self.model.reach(key)
        if reach and not self.chance(3):
            return self.choose([*reach, None])
        return self.choose([*self.model.spaces, *self.gone[-2:]])

    def some_id(self, space: Space | None) -> str:
        """Name a memory: one that is there, or one of another space, or none at all."""
        here = [] if space is None else list(space.memories)
        elsewhere = {identity for each in self.model.spaces.values() for identity in each.memories}
        return self.choose([*here * 3, *sorted(elsewhere), self.model.marks.identity()])

    def handle(self, identity: str) -> str:
        """Give an id, or its short form."""
        return identity[-8:] if self.chance(4) else identity
