"""Options that several commands share, and what they complete to."""

import os
import re
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal, TypeVar

import typer

from recollect.config import read_config
from recollect.core.errors import RecollectError, Refused
from recollect.core.memory import CATEGORIES, LARGEST_PLACE
from recollect.core.query import SORTS
from recollect.core.record import parse_time
from recollect.core.settings import SETTINGS


def complete_categories(incomplete: str) -> list[str]:
    """Offer the usual categories and the user's own; a store that is not there yet is not made for it."""
    own: list[str] = []
    config = read_config()
    if os.path.exists(config.store):
        from recollect.wiring import open_recollect

        try:
            with open_recollect(config) as memory:
                own = [name for space in memory.store.count() for name in space.categories]
        except RecollectError:
            own = []
    return [name for name in dict.fromkeys((*CATEGORIES, *own)) if name.startswith(incomplete)]


def complete_settings(incomplete: str) -> list[tuple[str, str]]:
    return [(name, setting.about) for name, setting in SETTINGS.items() if name.startswith(incomplete)]


Id = Annotated[str, typer.Argument(metavar="ID", help="Its id, or the last characters of it.")]
Words = Annotated[list[str], typer.Argument(metavar="QUERY", help="What to look for.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, as docs/json.md describes it.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before removing for good.")]

Project = Annotated[str | None, typer.Option("--project", "-p", help="Look in this project. Default: the one here.")]
Everywhere = Annotated[bool, typer.Option("--everywhere", "-a", help="Look in all projects.")]
Sessions = Annotated[list[str] | None, typer.Option("--session", help="Look only in this session. Repeatable.")]
Categories = Annotated[
    list[str] | None,
    typer.Option(
        "--category", "-c", help="Look only at this category. Repeatable.", autocompletion=complete_categories
    ),
]
Before = Annotated[
    int | None,
    typer.Option("--before", metavar="PLACE", help="Look only at what stands before this place in its session."),
]
AsOf = Annotated[
    str | None,
    typer.Option("--as-of", metavar="TIME", help="What was known then: 2026-05-31 or 2026-05-31T18:00, in UTC."),
]
SortBy = Annotated[
    str,
    typer.Option(
        "--sort", metavar="ORDER", help="By relevance, importance or recency.", autocompletion=lambda: list(SORTS)
    ),
]
Limit = Annotated[int | None, typer.Option("--limit", "-n", help="Most memories. Default: the setting `limit`.")]
Budget = Annotated[int | None, typer.Option("--budget", metavar="TOKENS", help="Most tokens, whole memories only.")]
Exclude = Annotated[
    list[str] | None, typer.Option("--exclude", metavar="ID", help="Leave this memory out. Repeatable.")
]

Category = Annotated[
    str | None,
    typer.Option("--category", "-c", help=f"{', '.join(CATEGORIES)}, or your own.", autocompletion=complete_categories),
]
Tags = Annotated[list[str] | None, typer.Option("--tag", "-t", help="A tag. Repeatable.")]
Keywords = Annotated[
    list[str] | None, typer.Option("--keyword", "-k", help="A further word to find it by. Repeatable.")
]
Importance = Annotated[float | None, typer.Option("--importance", "-i", help="From 0 to 1.", show_default=False)]
OwnProject = Annotated[str | None, typer.Option("--project", "-p", help="The project it belongs to.")]
General = Annotated[bool, typer.Option("--general", "-g", help="It belongs to no project and holds everywhere.")]
Session = Annotated[str | None, typer.Option("--session", help="The session it comes from.")]
Place = Annotated[int | None, typer.Option("--place", help="Its place in that session, from 0.")]


_AGO: Final = re.compile(r"(\d+) ?(min|h|d|w)", re.IGNORECASE)
_UNITS: Final = {
    "min": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}

_LOGS: Final = "Logging"
_LOG_FORMATS: Final = ("auto", "json", "text")
_LOG_LEVELS: Final = ("debug", "info", "warning", "error")
LogFormat = Annotated[
    str, typer.Option("--log-format", help="json, text, or auto: text in a terminal.", rich_help_panel=_LOGS)
]
LogLevel = Annotated[str, typer.Option("--log-level", help=", ".join(_LOG_LEVELS), rich_help_panel=_LOGS)]


Choice = TypeVar("Choice", bound=str)


def choose(option: str, given: str, among: tuple[Choice, ...]) -> Choice:
    """Give the one of several words that was given, or refuse it."""
    for each in among:
        if each == given:
            return each
    raise typer.BadParameter(f"{option} is {', '.join(among[:-1])} or {among[-1]}, not {given!r:.40}.")


def choose_logs(log_format: str, level: str) -> tuple[Literal["auto", "json", "text"], str]:
    return choose("--log-format", log_format, _LOG_FORMATS), choose("--log-level", level, _LOG_LEVELS)


def choose_project(project: str | None, *, none: bool, flag: str) -> str | None:
    """Give the project that was asked for as the facade has it; `none` means that `flag` was given."""
    from recollect.service.recollect import HERE

    if none and project is not None:
        raise typer.BadParameter(f"--project and {flag} exclude each other.")
    if none:
        return None
    return HERE if project is None else project


def place(before: int | None) -> int | None:
    """Give the place that a session is looked at up to; beyond the last possible one there is nothing to leave out."""
    return None if before is None else min(max(before, 0), LARGEST_PLACE)


def moment(text: str | None) -> datetime | None:
    """Read a time as a person gives it, or copies it from what was shown."""
    return None if text is None else parse_time(text.strip().removesuffix(" UTC"))


def moment_since(text: str, now: datetime) -> datetime:
    """Read since when: a time, or how long ago that was."""
    ago = _AGO.fullmatch(text.strip())
    if ago is None:
        try:
            return parse_time(text.strip().removesuffix(" UTC"))
        except Refused:
            raise typer.BadParameter(
                f"{text!r:.40} is not a time: write 30min, 2h, 3d, 2w, or a time in UTC like 2026-05-31T18:00."
            ) from None
    try:
        return now - int(ago[1]) * _UNITS[ago[2].lower()]
    except OverflowError:
        raise typer.BadParameter(f"{text!r:.40} is before all time.") from None
