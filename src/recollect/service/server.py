"""Recollect as a server has it: one database, many callers, each behind their own walls."""

from collections.abc import Callable, Mapping

from recollect.core.access import Allows, Caller, Deed, allows
from recollect.core.directory import Directory, Keys, Log
from recollect.core.errors import NotAllowed, NotFound
from recollect.core.ports import Clock, Health, Lag, Reranker, Store
from recollect.service.gate import Gates
from recollect.service.recollect import Recollect
from recollect.values import field, value


@value
class Server:
    open_store: Callable[[Caller | None], Store]
    """Gives the store as a caller may see it; `None` is the operator, who is behind no wall."""
    open_directory: Callable[[Caller | None], Directory]
    keys: Keys
    log: Log
    clock: Clock
    random: Callable[[int], int]
    gates: Gates = field(default_factory=Gates)
    reranker: Reranker | None = None
    allows: Allows = allows
    examine: Callable[[], Health] = Health
    """Tells whether the server can serve; raises what it lacks."""
    pool_stats: Callable[[], Mapping[str, int]] = dict
    """Gives the figures of the connections to the database."""
    job_lag: Callable[[], Lag] | None = None
    close: Callable[[], None] = lambda: None

    def recollect(self, caller: Caller, deed: Deed, *spaces: str) -> Recollect:
        """Give a caller the spaces they ask for, the first to write to; one's own if none is named."""
        chosen = spaces or ((caller.own,) if caller.own else ())
        if not chosen:
            raise NotFound("You have no space of your own: name one.")
        for space in chosen:
            self.check(caller, deed, space)
        return Recollect(
            store=self.open_store(caller),
            clock=self.clock,
            random=self.random,
            space=chosen[0],
            others=tuple(chosen[1:]),
            gates=self.gates,
            reranker=self.reranker,
        )

    def check(self, caller: Caller, deed: Deed, space: str) -> None:
        """Refuse what a caller may not do. A space that one may not read is as good as not there."""
        if self.allows(caller, deed, space):
            return
        if not self.allows(caller, "read", space):
            raise NotFound(f"There is no space {space!r} that you may see.")
        raise NotAllowed(f"You may not {deed} in {space}: ask somebody who administers it, or use another key.")
