"""What the harness raises on purpose, with what to do next."""

from recollect.core.errors import RecollectError

EXTRA = "pip install 'recollect[bench]'"


class BenchError(RecollectError):
    """A measurement that cannot be made as asked."""


class LegMissing(BenchError):
    """A leg that should have answered did not: figures without it would pass for those of the whole."""
