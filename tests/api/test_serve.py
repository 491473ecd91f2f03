"""`recollect serve` as a process: its first start, its refusals, its end, several of it, and a database that goes."""

import re
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx2
import pytest

from making import wait_until
from postgres import SETTINGS, named, open_folder
from recollect.stores.postgres.embedded import start
from recollect.stores.postgres.migrate import downgrade, newest, upgrade
from serving import Client, ServerProcess, World, serve_process

TOKEN = re.compile(r"rk_[a-z2-7]{12}_[a-z2-7]{52}")


def client_of(process: ServerProcess, token: str) -> Client:
    http = httpx2.Client(base_url=process.address, timeout=60)
    return Client(http, {"Authorization": f"Bearer {token}"})


def test_the_first_start_prints_the_first_key_once(cloned_database: str) -> None:
    """The key may do everything, a second start prints none, and a process that ends has noted what was read."""
    with serve_process(cloned_database) as first:
        assert first.address
        (token,) = TOKEN.findall(first.output)
        admin = client_of(first, token)
        assert admin.ok("GET", "/v1/me")["runs_server"] is True
        assert admin.ok("GET", "/readyz") == {"status": "ready", "schema": newest(), "finds_by": "words and meaning"}
        kept = admin.keep("Deploys run on Tuesdays.")
        admin.recall("deploys")
        admin.http.close()
        assert first.end() == 0
        assert "Traceback" not in first.output
        assert token not in first.output.partition("╰─")[2]
    with serve_process(cloned_database) as second:
        admin = client_of(second, token)
        entries = admin.ok("GET", "/v1/spaces/admin/audit")["entries"]
        assert (entries[0]["deed"], entries[0]["memories"]) == ("recall", [kept])
        admin.http.close()
        assert second.end(signal.SIGINT) == 0
        assert not TOKEN.search(second.output)
        assert "Traceback" not in second.output


def test_an_old_schema_is_refused_with_what_to_run(fresh_database: str) -> None:
    """On a database without tables, or with older ones, it does not start and says what to do."""
    with serve_process(fresh_database) as empty:
        assert empty.wait() == 5
        assert "recollect db upgrade" in empty.output
    upgrade(fresh_database)
    downgrade(fresh_database, "-1")
    with serve_process(fresh_database) as old:
        assert old.wait() == 5
        assert "recollect db upgrade" in old.output
        assert "Traceback" not in old.output


def test_what_is_wrong_with_the_options_is_said(database_url: str) -> None:
    """An option that cannot be so, and a database that is not named, end it with 2 and a line."""
    for url, options, words in (
        (database_url, ("--log-format", "yaml"), "json"),
        (database_url, ("--log-level", "loud"), "debug"),
        ("", (), "RECOLLECT_DATABASE_URL"),
    ):
        with serve_process(url, *options) as process:
            assert process.wait() == 2
            assert words in process.output


def test_a_request_that_runs_is_finished_first(cloned_database: str) -> None:
    """After SIGTERM nobody new is let in, and who was being answered is answered to the end."""
    with serve_process(cloned_database) as process:
        parts = urlsplit(process.address)
        (token,) = TOKEN.findall(process.output)
        admin = client_of(process, token)
        lines = admin.ask("GET", "/v1/export").text
        admin.http.close()
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=60) as wire:
            head = (
                f"POST /v1/import HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
                f"Content-Length: {len(lines) + 1}\r\n\r\n"
            )
            wire.sendall(head.encode() + lines.encode())
            # It is being worked on once it is counted.
            with httpx2.Client(base_url=process.address) as http:
                wait_until(lambda: "recollect_http_requests_open 2.0" in http.get("/metrics").text)
            process.process.send_signal(signal.SIGTERM)
            wait_until(lambda: not listens(parts.hostname or "", parts.port or 0))
            wire.sendall(b"\n")
            assert wire.recv(65536).startswith(b"HTTP/1.1 200")
        assert process.wait() == 0


def listens(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError:
        return False
    return True


def test_a_setting_reaches_two_processes_by_the_next_request(world: World, database_url: str) -> None:
    """What one process is told to weigh, another weighs at its very next recall."""
    with serve_process(database_url) as first, serve_process(database_url) as second:
        one, two = (client_of(process, world.tokens["ada"]) for process in (first, second))
        for word in ("Tuesdays", "Fridays", "Mondays"):
            one.keep(f"Deploys run on {word}.")
        for limit in (1, 2, 3, 1, 2):
            one.ok("PATCH", "/v1/settings", json={"limit": limit})
            assert len(two.recall("deploys")) == limit
            two.ok("PATCH", "/v1/settings", json={"limit": 1}, params={"space": "ada"})
            assert len(one.recall("deploys")) == 1
            one.ok("PATCH", "/v1/settings", json={"limit": None}, params={"space": "ada"})
            assert len(two.recall("deploys")) == limit
        for client in (one, two):
            client.http.close()


@pytest.mark.parametrize("gently", [True, False])
def test_a_database_that_goes_and_comes_back(gently: bool) -> None:
    """Without its database the server lives on, answers 503 with a reason, and serves again without a restart."""
    with open_folder() as folder, start(folder, settings=SETTINGS) as database:
        url = named(database.url, "postgres")
        upgrade(url)
        with serve_process(url) as process:
            assert process.address
            (token,) = TOKEN.findall(process.output)
            admin = client_of(process, token)
            kept = admin.keep("Deploys run on Tuesdays.")
            if gently:
                database.stop()
            else:
                database.kill()
            assert admin.ok("GET", "/healthz") == {"status": "ok"}
            asks: tuple[tuple[str, str, dict[str, str] | None], ...] = (
                ("GET", "/readyz", None),
                ("POST", "/v1/recall", {"query": "deploys"}),
                ("POST", "/v1/memories", {"content": "Lost?"}),
                ("POST", "/mcp", {}),
            )
            with ThreadPoolExecutor(len(asks)) as pool:
                answers = list(pool.map(lambda ask: admin.ask(ask[0], ask[1], json=ask[2]), asks))
            for answer in answers:
                assert answer.status_code == 503
                assert answer.json()["type"] in {"urn:recollect:store-away", "urn:recollect:not-ready"}
                assert "database cannot be reached" in answer.json()["detail"]
                assert "127.0.0.1" not in answer.text
                assert int(answer.headers["retry-after"]) >= 1
            database.start_again()
            wait_until(lambda: admin.ask("GET", "/readyz").status_code == 200)
            assert [found["id"] for found in admin.recall("deploys")] == [kept]
            assert admin.keep("Kept again.")
            admin.http.close()
            assert process.end() == 0
