import re

from recollect.core import errors
from recollect.core.errors import RecollectError


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    """The errors module draws its tree, and every error in it stands where it is drawn."""
    drawn: dict[str, str] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if match := re.match(r"([│ ├└─]*)(\w+)(?:  |$)", line):
            depth = len(match[1]) // 4
            path[depth:] = [match[2]]
            if depth:
                drawn[match[2]] = path[depth - 1]
    real = {
        name: kind.__bases__[0].__name__
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, RecollectError) and kind is not RecollectError
    }
    assert drawn == real
