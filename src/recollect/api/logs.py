"""Log lines: JSON for machines, text for a terminal, one line a request. What people keep or ask never stands in them.

Our own lines are an event and fields from a fixed list. An exception is told by its types and where it happened, not
by its message, which may quote a row. Of lines that other libraries write, those known to be harmless pass as they
are; of the rest only the first line of the template, without what was to be filled in.
"""

import json
import logging
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final, Literal, TextIO, TypedDict, Unpack

from recollect.api.exchange import QUIET, App, Exchange, Message, Receive, Scope, Send
from recollect.core.access import Caller

Format = Literal["auto", "json", "text"]
FORMATS: Final[tuple[Format, ...]] = ("auto", "json", "text")
LEVELS: Final = ("debug", "info", "warning", "error")

_OWN: Final = "recollect"
_HARMLESS: Final = {
    "uvicorn": logging.INFO,
    "alembic": logging.INFO,
    "procrastinate": logging.WARNING,
    "psycopg.pool": logging.WARNING,
}
"""They tell of processes, the schema, jobs by their ids, and connections; the last two at every turn."""
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_ERROR_STATUS: Final = 500
_to_json: Final = json.JSONEncoder(ensure_ascii=False, default=str).encode
_request_id: ContextVar[str] = ContextVar("request_id")
# A request's lines come from whatever thread works on it; its context goes along.


class Fields(TypedDict, total=False):
    """All that a line of ours may say besides its event."""

    method: str
    route: str
    status: int
    milliseconds: float
    key: str
    person: str
    error: str
    place: str
    """Where in the code."""
    address: str
    """Where the server listens."""
    schema: str
    count: int


def setup_logging(log_format: Format = "auto", level: str = "info", stream: TextIO | None = None) -> None:
    """Have all of this process's lines written in one format, uvicorn's too (run it with `log_config=None`)."""
    stream = sys.stderr if stream is None else stream
    as_text = stream.isatty() if log_format == "auto" else log_format == "text"
    handler = logging.StreamHandler(stream)
    handler.setFormatter(TextFormatter() if as_text else JsonFormatter())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    wanted = logging.getLevelNamesMapping()[level.upper()]
    logging.getLogger(_OWN).setLevel(wanted)
    for name, least in _HARMLESS.items():
        # What others say while debugging them quotes what passes through.
        logging.getLogger(name).setLevel(logging.INFO if wanted == logging.DEBUG else max(wanted, least))
    # Every request has a line of ours.
    logging.getLogger("uvicorn.access").disabled = True
    warnings.showwarning = _tell_warning  # type: ignore[assignment] # it is called by position


def log_event(event: str, level: int = logging.INFO, **fields: Unpack[Fields]) -> None:
    """Write a line of our own."""
    logger = logging.getLogger(_OWN)
    if logger.isEnabledFor(level):
        # By hand: `logger.log` looks through the stack for who called it, at a quarter of the line's cost.
        logger.handle(logger.makeRecord(_OWN, level, "", 0, event, (), None, extra={"fields": fields}))


class RequestLog:
    """Writes one line a request, and gives it an id that its other lines and its answer carry.

    A client's own `X-Request-Id` is kept if it looks like one. Who asked is read from `request.state.caller`.
    """

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = Exchange(scope)
        request_id = _id_of(scope)
        exchange.state["request_id"] = request_id
        # Not taken back: what uvicorn says of a request that failed comes after us, in the same context.
        _request_id.set(request_id)

        def carry_id(message: Message) -> None:
            message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]

        try:
            await exchange.run(self._app, receive, send, carry_id)
        finally:
            _write_line(exchange)


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return _to_json(_line(record))


class TextFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = _line(record)
        clock, level, event = line.pop("time")[11:19], line.pop("level"), line.pop("event")
        places = line.pop("trace", ())
        if event == "request":
            event = f"{line.pop('method')} {line.pop('route')} {line.pop('status')} {line.pop('milliseconds')} ms"
        rest = "".join(f" {name}={_plain(value)}" for name, value in line.items())
        return "\n    ".join([f"{clock} {level:<7} {_plain(event, spaces=True)}{rest}", *places])


def _tell_warning(
    _message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    *_: object,
) -> None:
    """Stand in for how Python prints a warning. Its words may quote, as Pydantic's do."""
    log_event("a warning", logging.WARNING, error=category.__name__, place=f"{filename}:{lineno}")


def _write_line(exchange: Exchange) -> None:
    route, status = exchange.route, exchange.status
    failed = status >= _ERROR_STATUS
    quiet = not failed and route in QUIET
    fields: Fields = {
        "method": exchange.method,
        "route": route,
        "status": status,
        "milliseconds": round(exchange.seconds * 1000, 3),
    }
    caller = exchange.state.get("caller")
    if isinstance(caller, Caller):
        fields |= {"key": caller.key, "person": caller.person}
    if exchange.error is not None:
        fields["error"] = name_error(exchange.error)
    level = logging.ERROR if failed else logging.DEBUG if quiet else logging.INFO
    log_event("request", level, **fields)


def _id_of(scope: Scope) -> str:
    for name, value in scope["headers"]:
        given: str = value.decode("latin-1")
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(given):
            return given
    return os.urandom(16).hex()


def _line(record: logging.LogRecord) -> dict[str, Any]:
    line: dict[str, Any] = {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname.lower(),
        "event": _event(record),
    }
    line |= record.__dict__.get("fields", {})
    if (request_id := _request_id.get(None)) is not None:
        line["request"] = request_id
    if record.name != _OWN:
        line["logger"] = record.name
    if record.exc_info and record.exc_info[1] is not None:
        errors = list(_chain(record.exc_info[1]))
        line["error"] = " from ".join(map(name_error, errors))
        line["trace"] = [place for error in reversed(errors) for place in _places(error.__traceback__)]
    return line


def _event(record: logging.LogRecord) -> str:
    if _is_of(record.name, (_OWN, *_HARMLESS)):
        return record.getMessage().strip()
    return str(record.msg).strip().partition("\n")[0]


def _is_of(name: str, families: tuple[str, ...]) -> bool:
    return any(name == family or name.startswith(f"{family}.") for family in families)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Give an error and what it came from; of a group its first."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        else:
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def name_error(error: BaseException) -> str:
    """Give what an error is called, without what it says."""
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _places(trace: TracebackType | None) -> Iterator[str]:
    while trace is not None:
        frame = trace.tb_frame
        yield f"{frame.f_globals.get('__name__', '?')}:{trace.tb_lineno} {frame.f_code.co_name}"
        trace = trace.tb_next


def _plain(value: object, *, spaces: bool = False) -> str:
    """Write a value so that it stays on its line and can be told from its neighbours."""
    text = str(value)
    return text if text.isprintable() and (spaces or " " not in text) else json.dumps(text, ensure_ascii=False)
