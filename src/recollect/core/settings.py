"""The settings a store keeps: their names, defaults and bounds. They take effect on the next recall."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from recollect.core.errors import BadSetting
from recollect.core.fusion import LARGEST_WEIGHT
from recollect.core.memory import DEFAULT_LENGTH_LIMIT
from recollect.core.query import DEFAULT_LIMIT, LARGEST_LIMIT

Value = float | int | str


@dataclass(frozen=True, slots=True)
class Setting:
    default: Value
    about: str
    least: float = 0
    most: float = 0
    choices: tuple[str, ...] = ()

    def parse(self, name: str, text: str) -> Value:
        if self.choices:
            if text not in self.choices:
                raise BadSetting(f"{name} is one of {', '.join(self.choices)}, not {text!r}.")
            return text
        whole = isinstance(self.default, int)
        try:
            value: float = int(text) if whole else float(text)
        except ValueError:
            value = math.nan
        if not self.least <= value <= self.most:
            what = "a whole number" if whole else "a number"
            raise BadSetting(f"{name} is {what} from {self.least:g} to {self.most:g}, not {text!r}.")
        return value


SETTINGS: Final[Mapping[str, Setting]] = {
    "weight.lexical": Setting(1.0, "weight of the words leg; 0 switches it off", most=LARGEST_WEIGHT),
    "weight.exact": Setting(0.0, "weight of the rare-terms leg; 0 switches it off", most=LARGEST_WEIGHT),
    "fusion": Setting("convex", "how legs become one list", choices=("convex", "reciprocal-rank")),
    "normaliser": Setting(
        "theoretical-minimum", "how convex brings scores to 0..1", choices=("theoretical-minimum", "min-max")
    ),
    "floor.lexical": Setting(0.0, "least share of the query's idf that must match", most=1),
    "floor.exact": Setting(0.0, "least share of the query's rare terms that must match", most=1),
    "depth": Setting(100, "how many hits each leg brings", least=10, most=10_000),
    "leg-timeout-ms": Setting(2000, "milliseconds after which a leg is left out", least=1, most=600_000),
    "limit": Setting(DEFAULT_LIMIT, "how many memories a recall brings", least=1, most=LARGEST_LIMIT),
    "length-limit": Setting(DEFAULT_LENGTH_LIMIT, "most characters of a memory", least=100, most=1_000_000),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in force: what was set, and the defaults for the rest."""

    values: Mapping[str, Value]

    def number(self, name: str) -> float:
        value = self.values.get(name, SETTINGS[name].default)
        return float(value)

    def whole(self, name: str) -> int:
        return int(self.number(name))

    def choice(self, name: str) -> str:
        return str(self.values.get(name, SETTINGS[name].default))

    def by_leg(self, prefix: str) -> dict[str, float]:
        """Give the settings `prefix.LEG` by leg: weights, floors."""
        start = f"{prefix}."
        return {name.removeprefix(start): self.number(name) for name in SETTINGS if name.startswith(start)}


def setting(name: str) -> Setting:
    if name not in SETTINGS:
        raise BadSetting(f"There is no setting {name!r}. `recollect config` lists them all.")
    return SETTINGS[name]


def parse_setting(name: str, text: str) -> Value:
    return setting(name).parse(name, text)
