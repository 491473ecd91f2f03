"""Keys: what is presented goes in and who is asking comes out; who is asking goes in and a new key comes out.

A token is `rk_PREFIX_SECRET`. The prefix is public and names the key; the secret is 256 random bits, so its SHA-256,
which is all that is kept, is as good as the slow hashes that passwords need.
"""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from recollect.core.access import KEY_SCOPES, ApiKey, Caller, KeyScope
from recollect.core.directory import Directory, Keys
from recollect.core.errors import Conflict, NotAllowed, NotFound, Refused, Unauthorised
from recollect.core.memory import check_label
from recollect.core.ports import Clock

FIRST_ADMIN: Final = "admin"
_TOKEN: Final = re.compile(r"rk_([a-z2-7]{12})_[a-z2-7]{52}")
# No token has this digest: it stands in for that of a key which is not there.
_NOBODYS: Final = bytes(hashlib.sha256().digest_size)
_UNAUTHORISED: Final = (
    "This needs a key that holds, as `Authorization: Bearer rk_...`: it is missing, mistyped, expired or revoked. "
    "Ask whoever runs this server for one."
)


def authenticate(keys: Keys, token: str) -> Caller:
    """Say who presents a token. Whatever is wrong with one, the answer is the same, and takes as long."""
    read = _TOKEN.fullmatch(token)
    if read is None:
        raise Unauthorised(_UNAUTHORISED)
    digest, caller = keys.find(read[1]) or (_NOBODYS, None)
    if not hmac.compare_digest(digest, digest_of(token)) or caller is None:
        raise Unauthorised(_UNAUTHORISED)
    keys.note_use(caller.key)
    return caller


def issue_key(
    directory: Directory,
    clock: Clock,
    caller: Caller | None,
    *,
    name: str,
    scope: KeyScope,
    person: str | None = None,
    spaces: Iterable[str] | None = None,
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """Make a key, for oneself unless a person is named, and give it with the token, which is not to be had again.

    A caller makes none that can do more than their own. For somebody else, whoever runs the server makes the first
    key and no other: a further one would open that person's spaces. `None` is the operator, who may.
    """
    now = clock()
    holder = person or (caller.person if caller else "")
    chosen = None if spaces is None else tuple(dict.fromkeys(spaces))
    check_label("name", name)
    if not holder:
        raise Refused("A key acts for a person: name one.")
    if scope not in KEY_SCOPES:
        raise Refused(f"A key's scope is {', '.join(KEY_SCOPES)}, not {scope!r:.40}.")
    if chosen == ():
        raise Refused("A key for no space opens nothing: name one, or none for all that the person is in.")
    if expires_at is not None and expires_at <= now:
        raise Refused("The key would have expired before it is made: give a later time.")
    if caller is not None:
        _check_reach(caller, holder, chosen)
    prefix = _random_text(60)
    token = f"rk_{prefix}_{_random_text(256)}"
    key = ApiKey(prefix, holder, name, scope, chosen, now, expires_at, None, None)
    directory.add_key(key, digest_of(token))
    return key, token


def ensure_admin(directory: Directory, clock: Clock) -> str | None:
    """On a server without people, make the first one, and give the token of a key that may do everything.

    Of two servers that start at once only one does so: names are unique.
    """
    if directory.people():
        return None
    try:
        directory.make_person(FIRST_ADMIN, admin=True)
    except Conflict:
        if directory.people():
            return None
        raise
    _, token = issue_key(directory, clock, None, person=FIRST_ADMIN, name="first key", scope="admin")
    return token


def digest_of(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _check_reach(caller: Caller, holder: str, spaces: tuple[str, ...] | None) -> None:
    if caller.scope != "admin":
        # Otherwise a key that leaked could leave others behind before it is revoked.
        raise NotAllowed(f"A key of scope {caller.scope} makes no others: use one of scope admin.")
    if holder != caller.person:
        if not caller.runs_server:
            raise NotAllowed("Only who runs the server makes keys for others.")
        return
    if spaces is None and caller.restricted:
        raise NotAllowed("Your key reaches only some of your spaces, and makes none that reaches more: name spaces.")
    for space in spaces or ():
        if space not in caller.spaces:
            raise NotFound(f"There is no space {space!r} that you may see.")


def _random_text(bits: int) -> str:
    """Give random bits, five a character, in letters and digits that no font confuses."""
    octets = secrets.token_bytes(-(-bits // 8))
    return base64.b32encode(octets).decode().lower()[: -(-bits // 5)]
