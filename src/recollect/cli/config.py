"""`config`: the settings a store keeps."""

from typing import Annotated

import typer

from recollect.cli.options import Json, complete_settings
from recollect.core.errors import BadSetting
from recollect.core.settings import SETTINGS, Settings, Value

Name = Annotated[
    str | None,
    typer.Argument(metavar="NAME", help="Which setting. Default: all.", autocompletion=complete_settings),
]


def config(
    name: Name = None,
    value: Annotated[str | None, typer.Argument(metavar="VALUE", help="What it becomes.")] = None,
    reset: Annotated[
        str | None,
        typer.Option("--reset", metavar="NAME", help="Go back to its default.", autocompletion=complete_settings),
    ] = None,
    json: Json = False,
) -> None:
    """Show the settings of the store, or one of them, or change it."""
    from recollect.wiring import open_recollect

    if reset is not None and name is not None:
        raise typer.BadParameter("--reset names the setting itself: give it alone.")
    for each in (name, reset):
        if each is not None and each not in SETTINGS:
            raise BadSetting(f"There is no setting {each!r}. `recollect config` lists them all.")
    with open_recollect() as memory:
        if reset is not None:
            memory.set(reset, None)
        elif name is not None and value is not None:
            memory.set(name, value)
        settings = memory.settings()
    chosen = reset or name
    if json:
        from recollect.cli.as_json import write_json

        rows = {each: _row(each, settings) for each in SETTINGS if chosen in (None, each)}
        write_json(rows if chosen is None else rows[chosen])
    elif chosen is None:
        _show_all(settings)
    else:
        from recollect.cli.paper import Paper

        current = _value(chosen, settings)
        Paper().write(str(current) if value is None and reset is None else f"{chosen} is now {current}.")


def _show_all(settings: Settings) -> None:
    from rich.text import Text

    from recollect.cli.paper import DIM, HANDLE, STRONG, Paper, plain

    rows = [(Text("setting", DIM), Text("value", DIM), Text("meaning", DIM))]
    for name, setting in SETTINGS.items():
        current = _value(name, settings)
        value = plain(current)
        if current != setting.default:
            value = Text.assemble((str(current), STRONG), (f" (default {setting.default})", DIM))
        rows.append((Text(name, HANDLE), value, Text(setting.about, DIM)))
    Paper().columns(rows)


def _value(name: str, settings: Settings) -> Value:
    return settings.values.get(name, SETTINGS[name].default)


def _row(name: str, settings: Settings) -> dict[str, Value]:
    setting = SETTINGS[name]
    return {"name": name, "value": _value(name, settings), "default": setting.default, "about": setting.about}
