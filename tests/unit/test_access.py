"""Who may do what, and keys: what they look like, what is wrong with them, who may make them."""

import itertools
import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast, get_args

import pytest

from making import START, StandingClock, at
from recollect.core.access import KEY_SCOPES, ROLES, ApiKey, Caller, Deed, KeyScope, Person, Role, allows, check_name
from recollect.core.errors import Conflict, NotAllowed, NotFound, Refused, Unauthorised
from recollect.service.access import authenticate, digest_of, ensure_admin, issue_key

if TYPE_CHECKING:
    from recollect.core.directory import Directory

CLOCK = StandingClock()
TOKEN = f"rk_{'a' * 12}_{'b' * 52}"
ANA = Caller("aaaaaaaaaaaa", "ana", "admin", "ana", {"ana": "admin", "team": "reader"})


@pytest.mark.parametrize(
    ("role", "scope", "deeds"),
    [
        ("reader", "read", "read"),
        ("reader", "write", "read"),
        ("reader", "admin", "read"),
        ("writer", "read", "read"),
        ("writer", "write", "read write"),
        ("writer", "admin", "read write"),
        ("admin", "read", "read"),
        ("admin", "write", "read write"),
        ("admin", "admin", "read write administer"),
        (None, "admin", ""),
    ],
)
def test_one_may_do_what_both_role_and_key_allow(role: Role | None, scope: KeyScope, deeds: str) -> None:
    """A caller goes as far as the lesser of their role in the space and their key's scope."""
    caller = Caller("k", "ana", scope, None, {} if role is None else {"team": role})
    assert [deed for deed in get_args(Deed) if allows(caller, deed, "team")] == deeds.split()


@pytest.mark.parametrize(("scope", "deed"), list(itertools.product(KEY_SCOPES, get_args(Deed))))
def test_running_the_server_opens_no_space(scope: KeyScope, deed: Deed) -> None:
    """Whoever runs the server may do nothing in a space that they are not in, nor by another space's name."""
    caller = Caller("k", "ana", scope, "ana", {"ana": "admin"}, admin=True)
    assert not any(allows(caller, deed, space) for space in ("bob", "", "Ana", "ana ", "*"))
    assert caller.runs_server == (scope == "admin")


def test_roles_deeds_and_scopes_are_in_order() -> None:
    """The rule compares places in these lists, so their order is part of it."""
    assert get_args(Role) == ROLES
    assert get_args(KeyScope) == KEY_SCOPES


@pytest.mark.parametrize("name", ["ana", "a", "team-1", "x.y_z", "0", "a" * 64])
def test_a_name_that_reads_one_way_is_taken(name: str) -> None:
    """Lower-case letters, digits and single marks between them make a name."""
    check_name("person", name)


@pytest.mark.parametrize(
    "name", ["", "Ana", "anä", "a b", "a/b", ".", "..", "-a", "a.", "a" * 65, "a\n", "\u0430", "a\0b", "%2e"]
)
def test_a_name_that_could_mislead_is_refused(name: str) -> None:
    """Capitals, look-alikes, spaces, slashes, marks at the ends and nothing at all are refused, saying what goes."""
    with pytest.raises(Refused, match="use lower-case letters"):
        check_name("space", name)


@dataclass
class KnownKeys:
    """Keys as a dictionary has them."""

    known: dict[str, tuple[bytes, Caller]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    used: list[str] = field(default_factory=list)

    def find(self, prefix: str) -> tuple[bytes, Caller] | None:
        self.asked.append(prefix)
        return self.known.get(prefix)

    def note_use(self, prefix: str) -> None:
        self.used.append(prefix)


def test_a_key_that_holds_says_who_is_asking() -> None:
    """The caller of a known prefix comes back if the whole token is theirs, and the use is noted."""
    keys = KnownKeys({"a" * 12: (digest_of(TOKEN), ANA)})
    assert authenticate(keys, TOKEN) == ANA
    assert keys.used == [ANA.key]


@pytest.mark.parametrize(
    "token",
    [
        "",
        "rk_",
        "Bearer " + TOKEN,
        TOKEN.upper(),
        TOKEN + "b",
        TOKEN[:-1],
        TOKEN + "\n",
        TOKEN.replace("rk", "sk"),
        TOKEN.replace("b", "1"),
        "\udc80" * 68,
        "x" * 1_000_000,
        TOKEN[:-1] + "c",
        f"rk_{'c' * 12}_{'b' * 52}",
    ],
    ids=range(13),
)
def test_whatever_is_wrong_with_a_key_the_answer_is_the_same(token: str) -> None:
    """Malformed, unknown, or with another secret: one message, and no use is noted."""
    keys = KnownKeys({"a" * 12: (digest_of(TOKEN), ANA)})
    with pytest.raises(Unauthorised) as malformed:
        authenticate(keys, "")
    with pytest.raises(Unauthorised) as wrong:
        authenticate(keys, token)
    assert str(wrong.value) == str(malformed.value)
    assert not keys.used


def test_an_unknown_prefix_is_compared_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Known or not, a digest is computed and compared in constant time, so that the time tells nothing."""
    compared: list[tuple[bytes, bytes]] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return True

    monkeypatch.setattr("hmac.compare_digest", compare)
    with pytest.raises(Unauthorised):
        authenticate(KnownKeys(), TOKEN)
    assert [len(one) for one, _ in compared] == [32]
    assert compared[0][1] == digest_of(TOKEN)


@dataclass
class Listing:
    """A directory of people and keys alone."""

    names: list[str] = field(default_factory=list)
    added: list[tuple[ApiKey, bytes]] = field(default_factory=list)
    taken: frozenset[str] = frozenset()

    def people(self) -> list[Person]:
        return [Person(name, False, START) for name in self.names]

    def make_person(self, person: str, *, admin: bool = False) -> Person:
        if person in self.taken:
            raise Conflict("taken")
        self.names.append(person)
        return Person(person, admin, START)

    def add_key(self, key: ApiKey, digest: bytes) -> None:
        self.added.append((key, digest))


def issue(caller: Caller | None = ANA, **given: Any) -> tuple[Listing, ApiKey, str]:  # noqa: ANN401
    directory = Listing()
    values: dict[str, Any] = {"name": "laptop", "scope": "read", **given}
    key, token = issue_key(cast("Directory", directory), CLOCK, caller, **values)
    return directory, key, token


def test_a_new_key_is_random_and_kept_by_its_digest_alone() -> None:
    """Two keys differ in prefix and secret; what is handed to the directory does not contain the secret."""
    directory, key, token = issue()
    _, _, other = issue()
    assert re.fullmatch(r"rk_[a-z2-7]{12}_[a-z2-7]{52}", token)
    assert token.split("_")[1] == key.prefix
    assert set(token.split("_")[1:]).isdisjoint(other.split("_")[1:])
    assert directory.added == [(key, digest_of(token))]
    assert token.split("_")[2] not in repr(directory.added)
    assert (key.person, key.scope, key.spaces, key.created_at, key.revoked_at) == ("ana", "read", None, START, None)


def test_the_new_key_opens() -> None:
    """What was issued authenticates against the digest that was kept."""
    directory, key, token = issue()
    keys = KnownKeys({key.prefix: (directory.added[0][1], ANA)})
    assert authenticate(keys, token) == ANA


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"name": " "}, "cannot be empty"),
        ({"name": "a\nb"}, "line break"),
        ({"name": "x" * 201}, "200 is the most"),
        ({"scope": "root"}, "A key's scope is read, write, admin"),
        ({"spaces": []}, "opens nothing"),
        ({"expires_at": START}, "later time"),
        ({"caller": None}, "acts for a person"),
    ],
)
def test_a_key_that_makes_no_sense_is_refused(given: dict[str, Any], why: str) -> None:
    """Without a name, a known scope, a person or a future, or for no space at all, there is no key."""
    with pytest.raises(Refused, match=why):
        issue(**given)


def test_a_key_makes_none_that_can_do_more() -> None:
    """Only an admin's key makes keys, of its own person, in spaces that it reaches itself."""
    for scope in ("read", "write"):
        with pytest.raises(NotAllowed, match="use one of scope admin"):
            issue(replace(ANA, scope=scope))
    with pytest.raises(NotAllowed, match="Only who runs the server"):
        issue(person="bob")
    with pytest.raises(NotFound, match="no space 'bob' that you may see"):
        issue(spaces=["ana", "bob"])
    with pytest.raises(NotAllowed, match="name spaces"):
        issue(replace(ANA, restricted=True))
    assert issue(replace(ANA, restricted=True), spaces=["team", "team"])[1].spaces == ("team",)
    assert issue(spaces=["ana"], scope="admin", expires_at=at(1))[1].expires_at == at(1)


def test_who_runs_the_server_makes_keys_for_others() -> None:
    """The operator and whoever runs the server name another person; the directory decides whether it is their first."""
    assert issue(replace(ANA, admin=True), person="bob")[1].person == "bob"
    assert issue(None, person="bob", spaces=["bob"])[1].spaces == ("bob",)
    with pytest.raises(NotAllowed):
        issue(replace(ANA, admin=True, scope="write"), person="bob")


def first_start(directory: Listing) -> str | None:
    return ensure_admin(cast("Directory", directory), CLOCK)


def test_the_first_start_makes_an_admin_and_says_the_key_once() -> None:
    """A server without people gets one, with a key that may do everything; one with people gets nothing."""
    directory = Listing()
    token = first_start(directory)
    assert token is not None
    ((key, digest),) = directory.added
    assert (directory.names, key.person, key.scope, key.spaces) == (["admin"], "admin", "admin", None)
    assert digest == digest_of(token)
    assert first_start(directory) is None
    assert len(directory.added) == 1


def test_of_two_first_starts_one_makes_the_admin() -> None:
    """Whoever finds the name taken by the other makes no key; taken by a space, it says so."""

    class Overtaken(Listing):
        def make_person(self, person: str, *, admin: bool = False) -> Person:
            self.names.append(person)
            return super().make_person(person, admin=admin)

    other = Overtaken(taken=frozenset({"admin"}))
    assert first_start(other) is None
    assert not other.added
    with pytest.raises(Conflict):
        first_start(Listing(taken=frozenset({"admin"})))


def test_a_moment_is_read_once() -> None:
    """A key is made at the moment by which its expiry was checked."""
    moments = iter([START, at(10)])

    def clock() -> datetime:
        return next(moments)

    key, _ = issue_key(cast("Directory", Listing()), clock, ANA, name="x", scope="read", expires_at=at(1))
    assert key.created_at == START
