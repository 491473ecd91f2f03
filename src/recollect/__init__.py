"""Memory for AI agents: found by word, by meaning and by connection, on your own machine.

>>> import recollect
>>> memory = recollect.open("notes.db")
>>> memory.remember("Deploys run from the main branch every Tuesday.")
>>> memory.recall("when do we deploy?").results[0].memory.content
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.service.recollect import Recollect as Recollect
    from recollect.wiring import open_file as open  # noqa: A004

__version__ = "0.1.0"
__all__ = ["Recollect", "__version__", "open"]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Import what a program uses when it uses it: a hook that runs at every prompt pays for nothing else."""
    if name == "open":
        from recollect.wiring import open_file

        return open_file
    if name == "Recollect":
        from recollect.service.recollect import Recollect

        return Recollect
    raise AttributeError(f"module 'recollect' has no attribute {name!r}")
