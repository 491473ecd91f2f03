"""What goes wrong in a tool, in words that an agent can act on, and without any text of a memory in them."""

import functools
import logging
import traceback
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

from recollect.core.errors import RecollectError

_P = ParamSpec("_P")
_R = TypeVar("_R")

logger = logging.getLogger(__name__)


def refusing(tool: Callable[_P, _R]) -> Callable[_P, _R]:
    """Turn what the core refuses into the SDK's anticipated error, and a fault of ours into one that tells nothing.

    The SDK would log the text of an unexpected error, in which a memory may be quoted.
    """

    @functools.wraps(tool)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return tool(*args, **kwargs)
        except RecollectError as error:
            raise ToolError(_for_agents(str(error))) from None
        except Exception as error:  # noqa: BLE001 - whatever it is, the server goes on
            kind = type(error).__name__
            place = traceback.extract_tb(error.__traceback__)[-1]
            logger.error("%s failed: %s at %s:%s", tool.__name__, kind, place.filename, place.lineno)  # noqa: TRY400 - see above
            raise ToolError(
                f"{tool.__name__} failed by a fault of Recollect's own ({kind}). Try again; if it stays so, tell the "
                "user to run `recollect doctor`."
            ) from None

    return run


def describe(error: ToolError) -> str:
    """Say what was wrong with a call, without repeating what was given: that may be what is kept from agents."""
    if isinstance(error.__cause__, ValidationError):
        wrong = error.__cause__.errors(include_url=False, include_context=False, include_input=False)
        lines = [f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}." for each in wrong]
        return " ".join(["The arguments do not fit.", *dict.fromkeys(lines)])
    # The SDK puts "Error executing tool NAME" before what the tool said.
    return str(error.__cause__ if isinstance(error.__cause__, ToolError) else error)


def describe_unknown(tool: str, unknown: set[str], known: frozenset[str]) -> str:
    return f"{tool} takes no {', '.join(sorted(unknown))}: its arguments are {', '.join(sorted(known))}."


def _for_agents(message: str) -> str:
    return message.replace("`recollect list`", "memory_list")
