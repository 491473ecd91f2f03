"""The page for whoever runs a server tells what there is: every metric, every field of the log."""

import inspect
import json
import logging
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from asgi import ask
from fakes import DictStore, FailingLeg, TellingLeg
from making import make_memory, make_query, ref_of
from recollect.api.exchange import Receive, Scope, Send
from recollect.api.limits import Limits
from recollect.api.logs import Fields, JsonFormatter
from recollect.api.metrics import Metrics
from recollect.cli.serve import serve
from recollect.service.recall import recall

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"


def section(heading: str) -> str:
    return PAGE.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]


@dataclass(frozen=True)
class _Lag:
    waiting: int = 0
    seconds: float = 0.0
    failed: int = 0


async def _silent(_scope: Scope, _receive: Receive, _send: Send) -> None:
    pass


def exposed() -> set[str]:
    metrics = Metrics(pool_stats=dict, job_lag=_Lag, query_cache=lambda: (0, 0))
    legs = [TellingLeg("lexical", {ref_of(1): 1.0}), FailingLeg("dense")]
    metrics.recall(recall(DictStore([make_memory(1)], legs), make_query()), 0.1)
    ask(metrics.middleware(_silent), "GET", "/")
    families = text_string_to_metric_families(metrics.expose()[0].decode())
    return {
        family.name + "_total" * (family.type == "counter")
        for family in families
        if family.name.startswith("recollect_")
    }


def test_every_metric_is_on_the_page_and_no_other() -> None:
    """The table of metrics is what a scrape brings."""
    table = section("What to watch").split("\nWorth waking up for")[0]
    assert set(re.findall(r"`(recollect_\w+)`", table)) == exposed()


def test_what_to_wake_up_for_asks_for_metrics_that_there_are() -> None:
    """The conditions name metrics that a scrape brings."""
    asked = set(re.findall(r"recollect_\w+", section("What to watch").split("\nWorth waking up for")[1]))
    assert {name.removesuffix("_bucket") for name in asked} <= exposed()


def test_every_field_of_the_log_is_on_the_page() -> None:
    """The table of fields is what lines are made of."""
    failed = logging.LogRecord("mcp", logging.ERROR, "", 0, "it failed", (), (ValueError, ValueError(), None))
    with_trace = set(json.loads(JsonFormatter().format(failed)))
    told = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", section("The log"), re.MULTILINE))))
    assert told == with_trace | set(Fields.__annotations__) | {"request"}


@pytest.mark.parametrize(
    ("option", "default"),
    [("rate", "100 a second"), ("burst", "200"), ("recalls", "16"), ("threads", "40"), ("connections", "10")],
)
def test_the_limits_are_those_of_the_server(option: str, default: str) -> None:
    """What the page calls a default is one."""
    (row,) = [line for line in section("Limits").splitlines() if f"--{option}" in line]
    assert default in row
    assert str(inspect.signature(serve).parameters[option].default).removesuffix(".0") == re.sub(r"\D", "", default)


def test_sizes_and_times_are_those_of_the_server() -> None:
    """A MiB of body and half a minute for it, as the page says."""
    assert (Limits().body_bytes, Limits().body_seconds) == (1 << 20, 30.0)
    assert "| 1 MiB | 413 |" in section("Limits")
