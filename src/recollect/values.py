"""Frozen values, at a fraction of what `dataclasses` costs at import.

A program that starts for every prompt cannot wait for a module that reads source code (`inspect`), nor for the eight
functions that a dataclass compiles for each class: for sixty classes that was most of a cold start (decision 14).
Nothing is compiled here: all values share the same few functions. To a type checker, and to whoever asks for
`dataclasses.fields`, a value is a frozen dataclass with slots.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast, dataclass_transform, overload

if TYPE_CHECKING:
    from dataclasses import Field

T = TypeVar("T")
_MISSING: Final = object()


class _Given:
    """What `field` says of a field: how it comes to its default, and whether it may be shown."""

    __slots__ = ("default", "make", "shown")

    def __init__(self, default: object, make: Callable[[], object] | None, shown: bool) -> None:
        self.default = default
        self.make = make
        self.shown = shown


_Described = tuple[tuple[str, _Given], ...]
"""The fields of a class, in order."""


@overload
def field(*, default: T, repr: bool = True) -> T: ...
@overload
def field(*, default_factory: Callable[[], T], repr: bool = True) -> T: ...
def field(
    *,
    default: object = _MISSING,
    default_factory: Callable[[], object] | None = None,
    repr: bool = True,  # noqa: A002 - as dataclasses call it
) -> Any:
    return _Given(default, default_factory, repr)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[T]) -> type[T]:
    """Make a class whose annotations are its fields into one of frozen values with slots."""
    body = dict(cls.__dict__)
    names: tuple[str, ...] = tuple(body["__annotations__"])
    fields = tuple((name, _given(body.pop(name, _MISSING))) for name in names)
    for name in ("__dict__", "__weakref__"):
        body.pop(name, None)
    body |= {"__slots__": names, "__match_args__": names, "__dataclass_fields__": _Fields(fields)}
    made = type(cls.__name__, cls.__bases__, body)
    for name, function in _functions(made, fields).items():
        setattr(made, name, function)
    return cast("type[T]", made)


def replace(one: T, **changes: Any) -> T:  # noqa: ANN401 - of whatever kind the fields are
    """Give a value that differs from another in some fields."""
    made = cast("Any", type(one))
    return cast("T", made(**({name: getattr(one, name) for name in made.__match_args__} | changes)))


def _given(default: object) -> _Given:
    return default if isinstance(default, _Given) else _Given(default, None, shown=True)


def _functions(made: type, fields: _Described) -> dict[str, Callable[..., Any]]:
    names = tuple(name for name, _ in fields)
    shown = tuple(name for name, given in fields if given.shown)
    every = attrgetter(*names)
    read = every if len(names) > 1 else lambda one: (every(one),)

    def equal(one: object, other: object) -> bool:
        return read(one) == read(other) if other.__class__ is made else NotImplemented

    def show(one: object) -> str:
        return f"{made.__qualname__}({', '.join(f'{name}={getattr(one, name)!r}' for name in shown)})"

    def refuse(one: object, name: str, value: object = None) -> None:  # noqa: ARG001
        raise AttributeError(f"{made.__name__} is a value and does not change: make another one with `replace`.")

    return {
        "__init__": _initialiser(made, fields),
        "__eq__": equal,
        "__hash__": lambda one: hash(read(one)),
        "__repr__": show,
        "__reduce__": lambda one: (made, read(one)),
        "__setattr__": refuse,
        "__delattr__": refuse,
    }


def _initialiser(made: type, fields: _Described) -> Callable[..., None]:
    # A slot's own setter passes by the refusal to change, and is faster than `object.__setattr__`.
    puts = tuple(made.__dict__[name].__set__ for name, _ in fields)
    rest = tuple((name, put, given.default, given.make) for (name, given), put in zip(fields, puts, strict=True))

    def initialise(one: object, *given: object, **named: object) -> None:
        for put, each in zip(puts, given, strict=False):
            put(one, each)
        for name, put, default, make in rest[len(given) :]:
            if name in named:
                put(one, named.pop(name))
            elif make is not None:
                put(one, make())
            elif default is not _MISSING:
                put(one, default)
            else:
                raise TypeError(f"{made.__name__} lacks its {name!r}.")
        if named or len(given) > len(puts):
            raise TypeError(f"{made.__name__} has {len(puts)} fields, and was given more, or twice: {list(named)}.")

    return initialise


class _Fields:
    """What `dataclasses` looks for in a class, made when it is first looked for."""

    __slots__ = ("_fields", "_made")

    def __init__(self, fields: _Described) -> None:
        self._fields = fields
        self._made: dict[str, Field[Any]] | None = None

    def __get__(self, one: object, cls: type) -> "dict[str, Field[Any]]":
        if self._made is None:
            import dataclasses

            twin = dataclasses.make_dataclass(
                cls.__name__,
                [(name, cls.__annotations__[name], _field(given)) for name, given in self._fields],
                frozen=True,
            )
            self._made = {each.name: each for each in dataclasses.fields(twin)}
        return self._made


def _field(given: _Given) -> Any:  # noqa: ANN401 - to `dataclasses`, what a field is by default
    import dataclasses

    if given.make is not None:
        return dataclasses.field(default_factory=given.make, repr=given.shown)
    if given.default is not _MISSING:
        return dataclasses.field(default=given.default, repr=given.shown)
    return dataclasses.field(repr=given.shown)
