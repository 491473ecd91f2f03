"""Names that a model or an import brings -> the concepts that are there already, if they are the same.

Exact names and aliases first, then the nearest name; between what is surely the same and what surely is not a model
decides, if one may be asked.
"""

from collections.abc import Callable

from recollect.core.concepts import Extraction, fold
from recollect.core.errors import ExtractorError
from recollect.core.ports import Concepts
from recollect.core.resolution import MAYBE, SAME, nearest, rename, words_of

IsSame = Callable[[str, str], bool]
"""Says whether two names stand for the same thing."""


class Resolver:
    """Resolves the names of one space; what it found is remembered as long as it lives, which is one run."""

    def __init__(self, concepts: Concepts, space: str, is_same: IsSame | None = None) -> None:
        self._concepts = concepts
        self._space = space
        self._is_same = is_same
        self._found: dict[tuple[str, ...], str] = {}
        """By a name's words: what this run brought first is there for the names after it."""

    def resolve(self, read: Extraction) -> Extraction:
        return rename(read, self._resolve)

    def _resolve(self, name: str) -> str:
        words = words_of(name)
        if not words:
            return name
        if words not in self._found:
            self._found[words] = self._find(name)
        return self._found[words]

    def _find(self, name: str) -> str:
        alike = self._concepts.alike(self._space, name)
        if fold(name) in alike:
            return name
        likeness, other = nearest(name, alike)
        return other if likeness >= SAME or (likeness >= MAYBE and self._ask(name, other)) else name

    def _ask(self, name: str, other: str) -> bool:
        if self._is_same is None:
            return False
        try:
            return self._is_same(name, other)
        except ExtractorError:
            # No answer is a no: the names stay apart, and the run goes on without asking.
            self._is_same = None
            return False
