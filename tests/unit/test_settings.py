import pytest

from recollect.core.errors import BadSetting
from recollect.core.settings import CONSTANTS, SETTINGS, Settings, parse_setting


def test_the_defaults() -> None:
    """What a store does before anyone sets anything; a change here changes every recall."""
    assert {name: setting.default for name, setting in SETTINGS.items()} == {
        "weight.lexical": 0.16,
        "weight.dense": 1.0,
        "weight.exact": 0.05,
        "fusion": "convex",
        "normaliser": "theoretical-minimum",
        "floor.lexical": 0.0,
        "floor.dense": 0.0,
        "floor.exact": 0.0,
        "context": 1.0,
        "spread": 0.5,
        "quoted-first": 1,
        "newest-first": 1,
        "rerank": 0,
        "rerank-timeout-ms": 1000,
        "depth": 100,
        "leg-timeout-ms": 2000,
        "limit": 10,
        "prompt.memories": 5,
        "prompt.tokens": 1000,
        "prompt.floor": 1.0,
        "learn": "review",
        "learn-by": "rules",
        "length-limit": 1400,
    }


@pytest.mark.parametrize("name", SETTINGS)
def test_every_default_is_a_value_it_accepts(name: str) -> None:
    """A default, written out and read again, is itself; and every setting says what it is about."""
    setting = SETTINGS[name]
    parsed = parse_setting(name, str(setting.default))
    assert parsed == setting.default
    assert type(parsed) is type(setting.default)
    assert setting.about


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("weight.lexical", "5.1", "weight.lexical is a number from 0 to 5, not '5.1'"),
        ("weight.lexical", "-1", "from 0 to 5"),
        ("weight.lexical", "nan", "from 0 to 5"),
        ("weight.lexical", "heavy", "from 0 to 5, not 'heavy'"),
        ("depth", "9", "depth is a whole number from 10 to 10000"),
        ("depth", "10.5", "whole number"),
        ("limit", "0", "from 1 to 1000"),
        ("length-limit", "1000001", "from 100 to 1e"),
        ("fusion", "borda", "fusion is one of convex, reciprocal-rank, not 'borda'"),
        ("colour", "red", "There is no setting 'colour'.*recollect config"),
    ],
)
def test_what_cannot_be_set_is_refused_with_the_bounds(name: str, text: str, message: str) -> None:
    """A refusal says what the setting may be."""
    with pytest.raises(BadSetting, match=message):
        parse_setting(name, text)


def test_bounds_are_included() -> None:
    """The least and the most are values too."""
    assert parse_setting("weight.exact", "0") == 0
    assert parse_setting("weight.exact", "5") == 5
    assert parse_setting("depth", "10000") == 10_000


def test_settings_fall_back_to_defaults() -> None:
    """What was not set has its default, by number, whole number, choice and leg."""
    settings = Settings({"weight.exact": 2.5, "depth": 50, "fusion": "reciprocal-rank"})
    defaults = {leg: SETTINGS[f"weight.{leg}"].default for leg in ("lexical", "dense")}
    assert settings.by_leg("weight") == {**defaults, "exact": 2.5, "graph": 0.0}
    assert settings.by_leg("floor") == {"lexical": 0.0, "dense": 0.0, "exact": 0.0}
    assert (settings.whole("depth"), settings.whole("limit")) == (50, 10)
    assert (settings.choice("fusion"), settings.choice("normaliser")) == ("reciprocal-rank", "theoretical-minimum")
    assert settings.number("floor.lexical") == 0.0


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_constant_is_no_setting(name: str) -> None:
    """What a measurement decided is in force without being listed, and nobody sets it by name."""
    assert name not in SETTINGS
    assert Settings({}).number(name) == CONSTANTS[name].default
    with pytest.raises(BadSetting, match="no setting"):
        parse_setting(name, str(CONSTANTS[name].default))


def test_constants_take_part_by_leg() -> None:
    """The legs' parts of `context` are constants, told apart from the setting of that name."""
    assert Settings({}).by_leg("context").keys() == {"lexical", "dense", "exact", "graph"}


def test_what_measures_may_vary_a_constant() -> None:
    """Settings made by hand, as the benchmark makes them, may say what no store can."""
    assert Settings({"rrf.k": 10}).number("rrf.k") == 10
