"""The directory on a real Postgres: what it keeps, and what it lets which caller see and change."""

import threading
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest

from making import make_link, make_memory, ref_of, use_model, wait_until
from recollect.core.access import ApiKey, Caller, KeyScope, Member, Person, Role
from recollect.core.concepts import RULES, Extraction, Relation
from recollect.core.errors import Conflict, NotAllowed, NotFound, RecollectError, Refused, Unauthorised
from recollect.core.vectors import pack
from recollect.service.access import authenticate, ensure_admin, issue_key
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.directory import PostgresDirectory
from recollect.stores.postgres.keys import PostgresKeys
from recollect.stores.postgres.store import PostgresStore
from recollect.stores.postgres.writing import Writing
from world import World, now


def names(directory: PostgresDirectory) -> list[str]:
    return [person.id for person in directory.people()]


def spaces(directory: PostgresDirectory) -> dict[str, Role | None]:
    return {space.id: space.role for space in directory.spaces()}


def test_a_person_comes_with_a_space_of_their_own(world: World) -> None:
    """A new person administers a space by their name, which nobody else sees."""
    made = world.operator.make_person("zoe")
    assert world.operator.people()[-1] == made == Person("zoe", False, made.created_at)
    (own,) = [space for space in world.operator.spaces() if space.id == "zoe"]
    assert (own.owner, own.created_at, own.memories, own.role) == ("zoe", made.created_at, 0, None)
    assert world.operator.members("zoe") == [Member("zoe", "admin")]
    zoe = world.caller("zoe")
    assert (zoe.own, zoe.spaces, zoe.admin, zoe.restricted) == ("zoe", {"zoe": "admin"}, False, False)
    assert spaces(world.directory(zoe)) == {"zoe": "admin"}


@pytest.mark.parametrize("name", ["bob", "team"])
def test_a_name_is_taken_once(world: World, name: str) -> None:
    """Neither a person nor a space takes the name of another, since a person's own space has the person's name."""
    with pytest.raises(Conflict, match="is taken"):
        world.operator.make_person(name)
    with pytest.raises(Conflict, match="is taken"):
        world.operator.make_space(name, "ana")


def test_names_are_checked(world: World) -> None:
    """A name that could mislead is refused before the database is asked."""
    with pytest.raises(Refused):
        world.operator.make_person("Ana")
    with pytest.raises(Refused):
        world.operator.make_space("a/b", "ana")
    with pytest.raises(Refused, match="A role is"):
        world.operator.set_member("team", "eve", "owner")  # type: ignore[arg-type]


def test_people_see_those_they_share_a_space_with(world: World) -> None:
    """Who runs the server sees everybody, members each other, and a stranger only themselves."""
    assert names(world.directory(world.caller("ana"))) == ["ana", "bob", "eve"]
    assert names(world.directory(world.caller("bob"))) == ["ana", "bob"]
    assert names(world.directory(world.caller("bob", "read", "bob"))) == ["bob"]
    assert names(world.directory(world.caller("eve"))) == ["eve"]


def test_spaces_are_seen_by_their_members_alone(world: World) -> None:
    """Running the server shows nobody's space; the operator sees all."""
    assert spaces(world.directory(world.caller("ana"))) == {"ana": "admin", "team": "admin"}
    assert spaces(world.directory(world.caller("bob", "read"))) == {"bob": "admin", "team": "reader"}
    assert spaces(world.directory(world.caller("bob", "admin", "team"))) == {"team": "reader"}
    assert spaces(world.operator) == dict.fromkeys(["ana", "bob", "eve", "team"])


def test_members_are_shown_to_members(world: World) -> None:
    """A space that one is not in is as good as not there."""
    both = [Member("ana", "admin"), Member("bob", "reader")]
    assert world.directory(world.caller("bob", "read")).members("team") == both
    for caller in (world.caller("eve"), world.caller("bob", "admin", "bob")):
        with pytest.raises(NotFound, match="no space 'team' that you may see"):
            world.directory(caller).members("team")
    with pytest.raises(NotFound):
        world.operator.members("nowhere")


def test_only_who_runs_the_server_adds_and_removes_people(world: World) -> None:
    """It takes an unrestricted admin's key of somebody who runs the server."""
    ana = world.directory(world.caller("ana"))
    ana.make_person("zoe")
    ana.remove_person("zoe")
    assert "zoe" not in names(world.operator)
    for caller in (world.caller("bob"), world.caller("ana", "write"), world.caller("ana", "admin", "ana", "team")):
        with pytest.raises(NotAllowed, match="adds people"):
            world.directory(caller).make_person("zoe")
        with pytest.raises(NotAllowed, match="removes people"):
            world.directory(caller).remove_person("eve")
    with pytest.raises(NotFound):
        ana.remove_person("nobody")


def test_a_server_keeps_an_admin_and_so_does_a_team(world: World) -> None:
    """The last who runs the server stays, and nobody goes who alone administers a team."""
    with pytest.raises(Conflict, match="ana is the only one who runs the server"):
        world.operator.remove_person("ana")
    world.operator.make_person("zoe", admin=True)
    with pytest.raises(Conflict, match="ana is the only admin of team:"):
        world.operator.remove_person("ana")
    with pytest.raises(Conflict, match="ana is the only admin of 1 team spaces"):
        world.directory(world.caller("zoe")).remove_person("ana")
    world.operator.set_member("team", "bob", "admin")
    world.operator.remove_person("ana")
    assert names(world.operator) == ["bob", "eve", "zoe"]
    assert world.operator.members("team") == [Member("bob", "admin")]


def test_who_makes_a_space_administers_it(world: World) -> None:
    """Anybody with an unrestricted admin's key makes a team; for others only who runs the server does."""
    eve = world.caller("eve")
    made = world.directory(eve).make_space("club", "eve")
    assert (made.id, made.owner, made.role) == ("club", None, "admin")
    assert spaces(world.directory(eve)) == {"club": "admin", "eve": "admin"}
    with pytest.raises(NotAllowed, match="for others"):
        world.directory(eve).make_space("den", "bob")
    for caller in (world.caller("eve", "write"), world.caller("eve", "admin", "eve")):
        with pytest.raises(NotAllowed, match="Only a key of scope admin"):
            world.directory(caller).make_space("den", "eve")
    assert world.directory(world.caller("ana")).make_space("den", "bob").role is None
    with pytest.raises(NotFound):
        world.operator.make_space("hall", "nobody")
    assert "hall" not in spaces(world.operator)


@pytest.mark.parametrize("scope", ["read", "write"])
def test_administering_takes_role_and_scope(world: World, scope: KeyScope) -> None:
    """A reader, an admin with a lesser key, and a stranger change nothing about who is in a space, nor remove it."""
    for caller, error in (
        (world.caller("bob"), NotAllowed),
        (world.caller("ana", scope), NotAllowed),
        (world.caller("eve"), NotFound),
        (world.caller("ana", "admin", "ana"), NotFound),
    ):
        directory = world.directory(caller)
        with pytest.raises(error, match="team"):
            directory.set_member("team", "eve", "reader")
        with pytest.raises(error, match="team"):
            directory.remove_member("team", "ana" if caller.person == "bob" else "bob")
        with pytest.raises(error, match="team"):
            directory.remove_space("team")
    assert world.operator.members("team") == [Member("ana", "admin"), Member("bob", "reader")]


def test_an_admin_says_who_is_in_a_space(world: World) -> None:
    """People are let in, given another role, and taken out; the next transaction of their keys follows."""
    ana = world.directory(world.caller("ana"))
    eve = world.caller("eve")
    assert ana.set_member("team", "eve", "writer") == Member("eve", "writer")
    assert spaces(world.directory(eve)) == {"eve": "admin", "team": "writer"}
    ana.set_member("team", "eve", "reader")
    assert spaces(world.directory(eve))["team"] == "reader"
    ana.remove_member("team", "eve")
    assert spaces(world.directory(eve)) == {"eve": "admin"}
    with pytest.raises(NotFound, match="eve is not a member"):
        ana.remove_member("team", "eve")
    with pytest.raises(NotFound, match="no person 'nobody'"):
        ana.set_member("team", "nobody", "reader")


def test_a_space_keeps_an_admin(world: World) -> None:
    """The last admin is neither taken out nor made less, by themselves or by the operator."""
    for directory in (world.directory(world.caller("ana")), world.operator):
        with pytest.raises(Conflict, match="at least one admin"):
            directory.remove_member("team", "ana")
        with pytest.raises(Conflict, match="at least one admin"):
            directory.set_member("team", "ana", "writer")
    world.operator.set_member("team", "bob", "admin")
    world.directory(world.caller("ana")).remove_member("team", "ana")
    assert world.operator.members("team") == [Member("bob", "admin")]


def test_ones_own_space_stays_ones_own(world: World) -> None:
    """Somebody who was made admin of another's own space cannot take it from them, nor remove it."""
    world.directory(world.caller("bob")).set_member("bob", "eve", "admin")
    eve = world.directory(world.caller("eve"))
    for change in (
        lambda: eve.remove_member("bob", "bob"),
        lambda: eve.set_member("bob", "bob", "reader"),
        lambda: eve.remove_space("bob"),
    ):
        with pytest.raises(Conflict, match="own space"):
            change()
    world.operator.remove_person("eve")
    assert world.operator.members("bob") == [Member("bob", "admin")]


def test_anybody_may_leave(world: World) -> None:
    """A reader leaves a team with a key of scope admin, not with a lesser one, nor in somebody else's name."""
    with pytest.raises(NotAllowed):
        world.directory(world.caller("bob", "write")).remove_member("team", "bob")
    world.directory(world.caller("bob")).remove_member("team", "bob")
    assert world.operator.members("team") == [Member("ana", "admin")]


def test_two_admins_cannot_both_leave(world: World) -> None:
    """Of two last admins who leave at the same moment, one is held back."""
    world.operator.set_member("team", "bob", "admin")
    callers = [world.caller("ana"), world.caller("bob")]
    together = threading.Barrier(2)
    refused: list[RecollectError] = []

    def leave(number: int) -> None:
        directory = world.directory(callers[number])
        together.wait(10)
        try:
            directory.remove_member("team", callers[number].person)
        except Conflict as error:
            refused.append(error)

    threads = [threading.Thread(target=leave, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 1
    assert len(world.operator.members("team")) == 1


def _fill(world: World, *names_of_spaces: str) -> PostgresStore:
    """Put something of every kind into spaces: memories with a past, links, vectors, concepts, work, settings."""
    store = PostgresStore(world.database)
    use_model(store)
    store.concepts.begin(RULES)
    for space in names_of_spaces:
        store.memories.add([make_memory(number, space=space) for number in (1, 2)])
        store.concepts.load("import", {ref_of(1, space): Extraction((), (Relation("Anna", "lives in", "Oslo"),))})
        store.budgets.claim(RULES, space, ["a text"])
        waiting = store.vectors.waiting("toy", 1, space)
        store.vectors.keep("toy", [(each, pack([1.0, 0.0])) for each in waiting])
        edited = make_memory(2, "Deploys run on Fridays.", space=space, version=2, action="edited")
        store.memories.change(edited)
        store.links.add(replace(make_link(1, "see-also", 2), space=space))
        store.settings.set("limit", 3, space)
    return store


def _rows(world: World, space: int) -> dict[str, int]:
    """Count a space's rows, table by table."""
    with world.database.read() as connection:
        tables = connection.execute(
            "SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'space' "
            "WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
        ).fetchall()
        counts = {
            table: connection.execute(f"SELECT count(*) FROM {table} WHERE space = %s".encode(), (space,)).fetchone()
            for (table,) in tables
        }
    return {table: row[0] for table, row in counts.items() if row and row[0]}


def test_a_space_goes_with_all_that_is_in_it(world: World) -> None:
    """Removing a team's space leaves no row of it in any table but the log, and every row of the others."""
    _fill(world, "team", "ana")
    gone, kept = world.number("team"), world.number("ana")
    before = _rows(world, kept)
    ana = world.caller("ana")
    full = {
        "memories", "revisions", "postings", "links", "outbox", "settings", "vectors_1", "memberships",
        "concepts", "concept_names", "memory_concepts", "concept_edges", "edge_evidence", "extracted", "unread",
    }  # fmt: skip
    assert _rows(world, gone).keys() == before.keys() == full
    world.directory(ana).remove_space("team")
    assert _rows(world, gone) == {"audit": 1}
    assert _rows(world, kept) == before
    assert "team" not in spaces(world.operator)
    with pytest.raises(NotFound):
        world.operator.remove_space("team")


@pytest.mark.parametrize("work", ["a memory is stored", "a vector is kept"])
def test_removing_waits_for_whoever_is_writing(world: World, work: str) -> None:
    """What is just being written to a space goes with it: nothing is left behind that nobody could reach."""
    store = _fill(world, "team")
    gone = world.number("team")
    removing = threading.Thread(target=world.operator.remove_space, args=("team",))

    def is_held_up() -> bool:
        with world.database.read() as connection:
            return connection.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone() is not None

    with world.database.write() as connection:
        if work == "a memory is stored":
            Writing(world.database, "english").insert(connection, make_memory(9, space="team"))
        else:
            connection.execute(
                "WITH taken AS (DELETE FROM outbox WHERE space = %s RETURNING space, memory) "
                "INSERT INTO vectors_1 SELECT space, memory, '[1, 0]' FROM taken ON CONFLICT DO NOTHING",
                (gone,),
            )
        removing.start()
        wait_until(is_held_up)
    removing.join()
    assert _rows(world, gone) == {}
    assert not store.count()


def test_a_person_goes_with_their_own_space(world: World) -> None:
    """Removing a person removes their space, memberships and keys; what they wrote for a team stays."""
    _fill(world, "bob", "team")
    gone = world.number("bob")
    _, token = world.issue("bob")
    world.operator.remove_person("bob")
    assert _rows(world, gone) == {}
    assert names(world.operator) == ["ana", "eve"]
    assert [space.memories for space in world.operator.spaces() if space.id == "team"] == [2]
    with pytest.raises(Unauthorised):
        authenticate(world.keys, token)


def test_a_key_is_listed_without_its_secret(world: World) -> None:
    """All that is known of a key comes back as it was issued; its use is noted within a minute."""
    expires = world.operator.people()[0].created_at + timedelta(days=9)
    key, token = world.issue("bob", "write", spaces=["team", "bob"], expires_at=expires)
    (listed,) = world.operator.keys()
    assert listed.spaces == ("bob", "team")
    assert (listed.prefix, listed.person, listed.scope, listed.expires_at) == (key.prefix, "bob", "write", expires)
    assert listed.last_used_at is None
    keys = world.keys
    authenticate(keys, token)
    first = world.operator.keys()[0].last_used_at
    assert first is not None
    authenticate(keys, token)
    authenticate(world.keys, token)
    assert world.operator.keys()[0].last_used_at == first


def test_a_key_reaches_what_it_was_made_for(world: World) -> None:
    """A key for some spaces reaches those, in the person's role, and has no home if that is not among them."""
    caller = world.caller("bob", "admin", "team")
    assert (caller.spaces, caller.own, caller.restricted) == ({"team": "reader"}, None, True)
    whole = world.caller("ana")
    assert (whole.own, whole.restricted, whole.admin) == ("ana", False, True)
    some = world.caller("ana", "admin", "ana", "team")
    assert (some.own, some.restricted, some.admin) == ("ana", True, False)


def test_keys_reach_only_the_persons_spaces(world: World) -> None:
    """Not even the operator makes a key for a space that its person is not in, or for somebody unknown."""
    for wanted in (["ana"], ["bob", "nowhere"]):
        with pytest.raises(NotFound, match="bob is not in all of these spaces"):
            world.issue("bob", spaces=wanted)
    with pytest.raises(NotFound, match="no person 'nobody'"):
        world.issue("nobody")
    assert not world.operator.keys()


def test_a_revoked_key_opens_nothing(world: World) -> None:
    """Once revoked it authenticates nobody, revoking it again changes nothing, and nothing brings it back."""
    key, token = world.issue("bob")
    bob = world.directory(authenticate(world.keys, token))
    gone = world.operator.revoke_key(key.prefix)
    assert gone.revoked_at is not None
    assert world.operator.revoke_key(key.prefix) == gone
    with pytest.raises(Unauthorised):
        authenticate(world.keys, token)
    assert not bob.spaces()
    assert not bob.people()
    assert not bob.keys()


def test_an_expired_key_opens_nothing(world: World) -> None:
    """A key whose time is over authenticates nobody."""
    made = world.operator.people()[0].created_at
    _, token = world.issue("bob", expires_at=made + timedelta(hours=1))
    authenticate(world.keys, token)
    later = PostgresKeys(world.database, lambda: made + timedelta(hours=1))
    with pytest.raises(Unauthorised):
        authenticate(later, token)


def test_people_see_and_revoke_their_own_keys(world: World) -> None:
    """An admin's key sees the person's keys, a lesser one itself, a restricted one those that reach no further."""
    ana, bob, eve = (world.caller(person) for person in ("ana", "bob", "eve"))
    agent, part = world.caller("bob", "write"), world.caller("bob", "admin", "team")
    below = world.caller("bob", "read", "team")

    def seen(by: Caller) -> set[str]:
        return {key.prefix for key in world.directory(by).keys()}  # noqa: SIM118

    assert seen(ana) == {each.key for each in (ana, bob, eve, agent, part, below)}
    assert seen(bob) == {each.key for each in (bob, agent, part, below)}
    assert seen(eve) == {eve.key}
    assert seen(agent) == {agent.key}
    assert seen(part) == {part.key, below.key}
    for caller, other in ((eve, bob), (agent, bob), (part, bob), (bob, ana)):
        with pytest.raises(NotFound):
            world.directory(caller).revoke_key(other.key)
    for caller, other in ((part, below), (agent, agent), (bob, part), (ana, bob)):
        assert world.directory(caller).revoke_key(other.key).revoked_at is not None
    assert {key.prefix for key in world.operator.keys() if key.revoked_at is None} == {ana.key, eve.key}  # noqa: SIM118


def test_a_key_makes_no_stronger_one(world: World) -> None:
    """Asked past the program's own check, the database refuses what would reach further than the key at work."""
    made = world.operator.people()[0].created_at

    def add(by: Caller, person: str, *reach: str) -> None:
        key = ApiKey("x" * 12, person, "x", "read", reach or None, made, None, None, None)
        world.directory(by).add_key(key, b"0" * 32)

    with pytest.raises(NotAllowed, match="scope admin"):
        add(world.caller("bob", "write"), "bob")
    with pytest.raises(NotAllowed, match="for others"):
        add(world.caller("bob"), "eve")
    part = world.caller("bob", "admin", "team")
    with pytest.raises(NotAllowed, match="reaches more"):
        add(part, "bob")
    with pytest.raises(NotAllowed, match="reaches more"):
        add(part, "bob", "bob", "team")
    add(part, "bob", "team")
    with pytest.raises(NotAllowed, match="for others"):
        add(world.caller("ana", "admin", "team"), "eve")


def test_who_runs_the_server_makes_only_a_first_key_for_others(world: World) -> None:
    """With a second one they could read that person's spaces, so revoking all keys opens no way to it either."""
    ana = world.caller("ana")

    def issue() -> tuple[object, str]:
        return issue_key(world.directory(ana), now, ana, person="eve", name="x", scope="admin")

    _, token = issue()
    eve = authenticate(world.keys, token)
    assert eve.person == "eve"
    with pytest.raises(NotAllowed, match="eve has had a key"):
        issue()
    world.directory(ana).revoke_key(eve.key)
    with pytest.raises(NotAllowed, match="eve has had a key"):
        issue()
    world.issue("eve")


def test_a_key_does_not_outlive_its_persons_rights(world: World) -> None:
    """What a person loses, their keys lose with the next transaction, whatever they were made for."""
    caller = world.caller("bob", "admin", "team")
    world.operator.remove_member("team", "bob")
    assert spaces(world.directory(caller)) == {}
    world.operator.set_member("team", "bob", "writer")
    assert spaces(world.directory(caller)) == {"team": "writer"}


def test_the_first_start_of_two_servers(cloned_database: str) -> None:
    """Of two servers that start on an empty database at once, one makes the admin, and its key works."""
    with closing(Database.open(cloned_database, size=2)) as database:
        world = World(database)
        together = threading.Barrier(2)
        tokens: list[str | None] = []

        def start() -> None:
            together.wait(10)
            tokens.append(ensure_admin(world.operator, now))

        threads = [threading.Thread(target=start) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (token,) = [each for each in tokens if each is not None]
        caller = authenticate(world.keys, token)
        assert (caller.person, caller.own, caller.runs_server) == ("admin", "admin", True)
        assert len(world.operator.keys()) == 1
