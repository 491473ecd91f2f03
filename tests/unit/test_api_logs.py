"""What a server writes to its log, and what it never does."""

import io
import json
import logging
import os
import re
import threading
import urllib.request
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.error import HTTPError

import pytest
import uvicorn
from fastapi import FastAPI, Request

from asgi import ask
from making import wait_until
from recollect.api.exchange import Receive, Scope, Send
from recollect.api.logs import FORMATS, RequestLog, log_event, setup_logging
from recollect.core.access import Caller

WORDS = "zanzibar"


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Leave logging as it was found."""
    root = logging.getLogger()
    handlers, level, show = root.handlers[:], root.level, warnings.showwarning
    yield
    root.handlers, root.level = handlers, level
    warnings.showwarning = show
    for name in ("recollect", "uvicorn", "psycopg.pool", "procrastinate", "alembic"):
        logging.getLogger(name).setLevel(logging.NOTSET)
    logging.getLogger("uvicorn.access").disabled = False


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def make_log(level: str = "info") -> io.StringIO:
    stream = io.StringIO()
    setup_logging("json", level, stream)
    return stream


def make_app() -> FastAPI:
    app = FastAPI()

    @app.post("/v1/spaces/{space}/memories")
    def store(space: str, request: Request) -> str:
        request.state.caller = Caller("rk_1a2b", "ada", "write", "ada")
        return space

    @app.get("/v1/fault")
    def fault() -> None:
        log_event("working")
        raise RuntimeError(WORDS) from KeyError(WORDS)

    @app.get("/healthz")
    def healthz(*, fail: bool = False) -> str:
        if fail:
            raise RuntimeError(WORDS)
        return ""

    return app


def test_a_request_is_one_line_that_says_who_asked_what_and_how_it_went() -> None:
    """The line of a request has just these fields; the route is the API's, not the client's path."""
    stream = make_log()
    ask(RequestLog(make_app()), "POST", "/v1/spaces/ada/memories", {"X-Request-Id": "abc-1"})
    (line,) = lines(stream)
    milliseconds = line.pop("milliseconds")
    moment = line.pop("time")
    assert milliseconds > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", moment)
    assert line == {
        "level": "info",
        "event": "request",
        "method": "POST",
        "route": "/v1/spaces/{space}/memories",
        "status": 200,
        "key": "rk_1a2b",
        "person": "ada",
        "request": "abc-1",
    }


def test_nothing_that_a_client_sends_is_written_but_its_request_id() -> None:
    """Path, query, headers and body stay out of the log, of a request that is served and of one that is not."""
    stream = make_log("debug")
    headers = {"Authorization": f"Bearer {WORDS}", "User-Agent": WORDS, "X-Request-Id": f"{WORDS} {WORDS}"}
    for target in (f"/v1/spaces/{WORDS}/memories?q={WORDS}", f"/{WORDS}"):
        ask(RequestLog(make_app()), "POST", target, headers, json.dumps({"content": WORDS}).encode())
    assert len(lines(stream)) == 2
    assert WORDS not in stream.getvalue()


@pytest.mark.parametrize("given", ["a", "0190-AB_c.7", "x" * 64])
def test_a_request_id_that_looks_like_one_is_kept(given: str) -> None:
    """A client's id for a request comes back with the answer."""
    make_log()
    assert ask(RequestLog(make_app()), "GET", "/healthz", {"X-Request-Id": given}).headers["x-request-id"] == given


@pytest.mark.parametrize("given", [None, "", "x" * 65, "a b", 'a"b', "a\tb", "é", "a/../b"])
def test_any_other_request_id_is_replaced(given: str | None) -> None:
    """What could break a line, or is no id, is replaced by one of ours."""
    stream = make_log("debug")
    reply = ask(RequestLog(make_app()), "GET", "/healthz", {} if given is None else {"X-Request-Id": given})
    assert re.fullmatch("[0-9a-f]{32}", reply.headers["x-request-id"])
    assert lines(stream)[0]["request"] == reply.headers["x-request-id"]


def test_the_application_knows_the_id_of_its_request() -> None:
    """What answers a request can name the id, to be quoted to whoever runs the server."""
    make_log()
    app = FastAPI()

    @app.get("/id")
    def identity(request: Request) -> str:
        given: str = request.state.request_id
        return given

    assert ask(RequestLog(app), "GET", "/id", {"X-Request-Id": "abc"}).body == b'"abc"'


def test_probes_are_silent_until_they_fail() -> None:
    """A healthy probe is not worth a line; one that fails is."""
    stream = make_log()
    ask(RequestLog(make_app()), "GET", "/healthz")
    assert lines(stream) == []
    with pytest.raises(RuntimeError):
        ask(RequestLog(make_app()), "GET", "/healthz?fail=true")
    assert [(line["level"], line["status"]) for line in lines(stream)] == [("error", 500)]


def test_a_failure_is_named_without_what_it_says() -> None:
    """The line of a request that failed has the kind of error, not its message."""
    stream = make_log()
    with pytest.raises(RuntimeError):
        ask(RequestLog(make_app()), "GET", "/v1/fault")
    assert lines(stream)[-1]["error"] == "RuntimeError"
    assert WORDS not in stream.getvalue()


def test_what_is_no_request_passes_unseen() -> None:
    """The start and stop of a server go through to the application, without a line."""
    stream = make_log("debug")
    seen: list[str] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.append(scope["type"])

    run = RequestLog(app)({"type": "lifespan"}, None, None)  # type: ignore[arg-type]
    with pytest.raises(StopIteration):
        run.__await__().__next__()
    assert (seen, lines(stream)) == (["lifespan"], [])


def _raise_nested() -> None:
    try:
        os.environ[WORDS]
    except KeyError:
        raise ValueError(WORDS)  # noqa: B904 - that it is not named is the point


def _raise_group() -> None:
    raise ExceptionGroup(WORDS, [OSError(WORDS), TypeError(WORDS)])


@pytest.mark.parametrize(
    ("fail", "error"), [(_raise_nested, "ValueError from KeyError"), (_raise_group, "ExceptionGroup from OSError")]
)
def test_an_exception_is_told_by_kind_and_place(fail: Any, error: str) -> None:  # noqa: ANN401 - a function
    """A traceback has modules, lines and functions, and no message: a message may quote a row."""
    stream = make_log()
    try:
        fail()
    except Exception:
        logging.getLogger("uvicorn.error").exception("Exception in ASGI application\n")
    (line,) = lines(stream)
    assert line["event"] == "Exception in ASGI application"
    assert line["logger"] == "uvicorn.error"
    assert line["error"] == error
    assert any(re.fullmatch(rf".*test_api_logs:\d+ {fail.__name__}", place) for place in line["trace"])
    assert WORDS not in stream.getvalue()


def test_a_suppressed_cause_stays_so() -> None:
    """What an error was raised `from None` to hide is not told."""
    stream = make_log()
    try:
        try:
            os.environ[WORDS]
        except KeyError:
            raise ValueError from None
    except ValueError:
        logging.getLogger("recollect").exception("it failed")
    assert lines(stream)[0]["error"] == "ValueError"


@pytest.mark.parametrize("name", ["mcp.server.lowlevel", "asyncio", "httpx2"])
def test_of_other_libraries_only_the_template_is_written(name: str) -> None:
    """What another library fills into its lines, or writes below the first, may be somebody's words."""
    stream = make_log("debug")
    logger = logging.getLogger(name)
    logger.warning("Tool %r failed: %r", "remember", WORDS)
    logger.error("Task exception was never retrieved\nfuture: <Task exception=ValueError('%s')>" % WORDS)  # noqa: UP031, G002 - so it arrives
    logger.info("below their level")
    assert [line["event"] for line in lines(stream)] == ["Tool %r failed: %r", "Task exception was never retrieved"]
    assert WORDS not in stream.getvalue()


@pytest.mark.parametrize(
    ("level", "told"),
    [
        ("debug", ["Job 12 ended", "connection given", "error connecting in 'recollect'"]),
        ("info", ["error connecting in 'recollect'"]),
        ("error", []),
    ],
)
def test_harmless_libraries_are_written_as_they_are_but_never_at_debug(level: str, told: list[str]) -> None:
    """Processes, connections and jobs are told in full; what is for debugging these libraries is left out."""
    stream = make_log(level)
    logging.getLogger("procrastinate.worker").info("Job %s ended", 12)
    logging.getLogger("psycopg.pool").info("connection given")
    logging.getLogger("psycopg.pool").warning("error connecting in %r", "recollect")
    logging.getLogger("uvicorn.error").debug("ASGI [1] Receive %s", WORDS)
    logging.getLogger("uvicorn.access").info('"GET /%s"', WORDS)
    assert [line["event"] for line in lines(stream)] == told


@pytest.mark.filterwarnings("always")
def test_a_warning_is_told_by_kind_and_place() -> None:
    """A warning of some library becomes a line, without its words."""
    stream = make_log()
    warnings.warn(WORDS, stacklevel=1)
    (line,) = lines(stream)
    assert (line["event"], line["error"]) == ("a warning", "UserWarning")
    assert re.search(r"test_api_logs\.py:\d+$", line["place"])
    assert WORDS not in stream.getvalue()


def test_a_line_of_ours_below_the_level_is_not_written() -> None:
    """The level asked for is that of our own lines."""
    stream = make_log("warning")
    log_event("started", address="0.0.0.0:8000")
    log_event("worn out", logging.WARNING, count=3)
    assert [(line["event"], line.get("count")) for line in lines(stream)] == [("worn out", 3)]


def test_a_person_reads_text_and_a_machine_json() -> None:
    """Unless it is said otherwise, a terminal gets text and anything else JSON."""
    written = {}
    for wanted in FORMATS:
        for stream in (Terminal(), io.StringIO()):
            setup_logging(wanted, "info", stream)
            log_event("started", address="here")
            written[wanted, stream.isatty()] = stream.getvalue().startswith("{")
    assert written == {
        ("auto", True): False,
        ("auto", False): True,
        ("json", True): True,
        ("json", False): True,
        ("text", True): False,
        ("text", False): False,
    }


def test_a_request_in_text_reads_at_a_glance() -> None:
    """In text a request's line is the request, its status and its time, then the rest by name."""
    stream = Terminal()
    setup_logging("auto", "info", stream)
    ask(RequestLog(make_app()), "POST", "/v1/spaces/ada/memories", {"X-Request-Id": "abc"})
    pattern = (
        r"\d\d:\d\d:\d\d info    POST /v1/spaces/\{space\}/memories 200 [\d.]+ ms key=rk_1a2b person=ada request=abc\n"
    )
    assert re.fullmatch(pattern, stream.getvalue())


def test_in_text_a_value_stays_on_its_line() -> None:
    """A value with spaces or line ends is quoted; the places of an exception follow, each on a line of its own."""
    stream = io.StringIO()
    setup_logging("text", "info", stream)
    log_event("two\nlines", person="ada\nroot")
    try:
        _raise_nested()
    except ValueError:
        logging.getLogger("recollect").exception("it failed")
    first, second, *places = stream.getvalue().splitlines()
    assert first.endswith(r'"two\nlines" person="ada\nroot"')
    assert second.endswith('error="ValueError from KeyError"')
    assert places
    assert all(place.startswith("    ") for place in places)


@contextmanager
def served(app: Any) -> Iterator[str]:  # noqa: ANN401 - any ASGI application
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, access_log=False, ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, name="server")
    thread.start()
    try:
        wait_until(lambda: server.started)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def test_all_lines_of_a_request_carry_its_id_through_a_real_server() -> None:
    """The endpoint's own lines, in its thread, the request's line and uvicorn's word on its failure share the id."""
    stream = make_log()
    with served(RequestLog(make_app())) as address:
        request = urllib.request.Request(f"{address}/v1/fault", headers={"X-Request-Id": "abc-9"})  # noqa: S310 - our own server
        with pytest.raises(HTTPError) as raised:
            urllib.request.urlopen(request)  # noqa: S310
        assert raised.value.headers["x-request-id"] == "abc-9"
        raised.value.close()
    of_request = [line["event"] for line in lines(stream) if line.get("request") == "abc-9"]
    assert sorted(of_request) == ["Exception in ASGI application", "request", "working"]
    assert any("Uvicorn running" in line["event"] for line in lines(stream))
    assert WORDS not in stream.getvalue()
