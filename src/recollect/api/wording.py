"""What the service says to somebody at a laptop, in words for somebody at the other end of HTTP."""

import re
from typing import Final

UNDO: Final = "POST /v1/memories/{id}/restore"
_COMMANDS: Final = (
    (re.compile(r"`recollect undo ([0-9a-f-]+)`"), r"`POST /v1/memories/\1/restore`"),
    (re.compile(r"`recollect list`"), "`GET /v1/memories`"),
    (re.compile(r"`recollect config`"), "`GET /v1/settings`"),
    (re.compile(r"in a terminal: `recollect edit`"), "with `PATCH /v1/memories/{id}`"),
    (re.compile(r"tell the user to run `recollect doctor`"), "tell whoever runs the server"),
)


def reword(message: str) -> str:
    for command, request in _COMMANDS:
        message = command.sub(request, message)
    return message
