"""One request: a bearer key in, who asks and what they may reach out.

Nothing is to be had of the server but through `enter`, and nothing of a space but through the one predicate.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from anyio import CapacityLimiter
from fastapi import Request

from recollect.api.limits import Limits, Rate, Turns
from recollect.api.metrics import Metrics
from recollect.api.telemetry import Tracing
from recollect.core.access import Caller, Deed
from recollect.core.directory import Directory
from recollect.core.errors import NotAllowed
from recollect.core.hits import Ref
from recollect.core.memory import Memory
from recollect.core.ports import Store
from recollect.service.access import authenticate
from recollect.service.recall import Recall
from recollect.service.recollect import Recollect
from recollect.service.server import Server

_SCHEME: Final = "bearer "


@dataclass(frozen=True, slots=True)
class Desk:
    """What all requests of a process share."""

    server: Server
    limits: Limits
    metrics: Metrics
    tracing: Tracing | None = None
    rate: Rate = field(init=False)
    recalls: Turns = field(init=False)
    imports: Turns = field(init=False)
    import_threads: CapacityLimiter = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", Rate(self.limits.requests_per_second, self.limits.burst))
        object.__setattr__(self, "recalls", Turns(self.limits.recalls_at_once))
        object.__setattr__(self, "imports", Turns(self.limits.imports_at_once, "imports"))
        object.__setattr__(self, "import_threads", CapacityLimiter(self.limits.import_threads))

    def admit(self, authorization: str) -> "Call":
        """Say who presents a key, or refuse them; count the request towards what the key may."""
        token = authorization[len(_SCHEME) :].strip() if authorization.lower().startswith(_SCHEME) else ""
        caller = authenticate(self.server.keys, token)
        self.rate.take(caller.key)
        return Call(self, caller)


@dataclass(frozen=True, slots=True)
class Call:
    desk: Desk
    caller: Caller

    @property
    def server(self) -> Server:
        return self.desk.server

    def recollect(self, deed: Deed, *spaces: str | None) -> Recollect:
        """Give the spaces named, where the caller may do this; their own if none is."""
        return self.server.recollect(self.caller, deed, *(space for space in spaces if space is not None))

    def directory(self) -> Directory:
        return self.server.open_directory(self.caller)

    def operator_store(self) -> Store:
        """Give the store behind no wall: for what belongs to the server and to no space."""
        self.check_runs_server()
        return self.server.open_store(None)

    def check_runs_server(self) -> None:
        if not self.caller.runs_server:
            raise NotAllowed("Only who runs the server may do this, with a key of scope admin.")

    def note(self, deed: str, memories: Iterable[Memory]) -> None:
        """Note in the log what the caller was shown."""
        self.server.log.note(self.caller, deed, [Ref(memory.space, memory.id) for memory in memories])

    def recall(self, answer: Callable[[], Recall]) -> Recall:
        """Have a recall answered, as one of those that the key may run side by side, and take note of it."""
        with self.desk.recalls.take(self.caller.key):
            began = time.perf_counter()
            found = answer()
            seconds = time.perf_counter() - began
        self.desk.metrics.recall(found, seconds)
        if self.desk.tracing is not None:
            self.desk.tracing.recall(found, seconds)
        self.note("recall", found.shown)
        return found


def desk_of(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


def enter(request: Request) -> Call:
    """Admit a request, or refuse it."""
    call = desk_of(request).admit(request.headers.get("authorization", ""))
    request.state.caller = call.caller
    return call
