"""Values: frozen, compared by what they hold, and dataclasses to whoever asks."""

import copy
import dataclasses
import pickle
import subprocess
import sys

import pytest

from recollect.values import field, replace, value


@value
class Point:
    x: int
    y: int = 0
    names: list[str] = field(default_factory=list)
    secret: str = field(default="", repr=False)


@value
class Only:
    one: str


def test_fields_are_given_by_place_name_or_default() -> None:
    """A value takes its fields in order or by name, and fills in defaults, made anew each time."""
    assert Point(1, y=2) == Point(x=1, y=2, names=[], secret="")
    assert Point(1).names is not Point(1).names


@pytest.mark.parametrize(
    ("given", "named"), [((), {}), ((1, 2, [], "", 5), {}), ((1,), {"x": 1}), ((1,), {"z": 1})], ids=str
)
def test_wrong_fields_are_refused(given: tuple[object, ...], named: dict[str, object]) -> None:
    """What is missing, too much, given twice or unknown is a TypeError."""
    with pytest.raises(TypeError, match="Point"):
        Point(*given, **named)  # type: ignore[arg-type]


def test_a_value_does_not_change() -> None:
    """Fields cannot be set, removed or added; `replace` makes another value."""
    point = Point(1)
    for name in ("x", "z"):
        with pytest.raises(AttributeError, match="does not change"):
            setattr(point, name, 2)
    with pytest.raises(AttributeError, match="does not change"):
        del point.x
    assert replace(point, y=5) == Point(1, 5)


def test_values_are_compared_by_what_they_hold() -> None:
    """Equal fields make equal values of the same hash; another class is never equal."""
    assert Only("a") == Only("a") != Only("b")
    assert hash(Only("a")) == hash(Only("a"))
    other: object = ("a",)
    assert Only("a") != other


def test_what_is_not_to_be_shown_is_not() -> None:
    """The words for a value name its class and its fields, but for those that hold secrets."""
    assert repr(Point(1, secret="x")) == "Point(x=1, y=0, names=[])"  # noqa: S106


def test_a_value_is_copied_and_pickled() -> None:
    """Values travel between processes as they are."""
    point = Point(1, 2, ["a"])
    assert pickle.loads(pickle.dumps(point)) == copy.copy(point) == copy.deepcopy(point) == point  # noqa: S301


def test_a_value_is_a_dataclass_to_whoever_asks() -> None:
    """`fields`, `asdict` and `replace` of the standard library take it, and a match statement its places."""
    point = Point(1, 2)
    assert [each.name for each in dataclasses.fields(point)] == ["x", "y", "names", "secret"]
    assert dataclasses.asdict(point) == {"x": 1, "y": 2, "names": [], "secret": ""}
    assert dataclasses.replace(point, x=3) == Point(3, 2)
    match point:
        case Point(1, y):
            assert y == 2


def test_the_prompt_hook_imports_nothing_heavy() -> None:
    """On the plain path of a prompt neither dataclasses nor any other costly module is loaded."""
    heavy = {"dataclasses", "inspect", "asyncio", "socket", "numpy", "typer", "pydantic", "mcp", "pathlib", "hashlib"}
    program = "import sys; before = set(sys.modules); import recollect.hooks.entry, recollect.hooks.prompt, json"
    script = f"{program}; print(*sorted({heavy!r} & (set(sys.modules) - before)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
