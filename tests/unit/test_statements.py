"""Which statements say the same, and which contradict each other."""

import pytest

from recollect.core.statements import adds_nothing, contradicts, digest, read_statement, says_same

SAME = (
    ("The staging database listens on port 5433.", "the Staging database listens on port 5433"),
    ("Deploys run on Tuesdays.", "Deploys are run on Tuesdays!"),
    ("Always use pnpm for the web package.", "Please always use pnpm for the web packages."),
)
CONTRARY = (
    ("The staging database listens on port 5433.", "The staging database listens on port 5432."),
    ("Deploys run on Tuesdays.", "Deploys run on Thursdays."),
    ("The API uses tabs for indentation.", "The API does not use tabs for indentation."),
    ("The timeout is in seconds, not in milliseconds.", "The timeout is in milliseconds."),
    ("The team lead of payments is Priya.", "The team lead of payments is Jonas."),
)
OTHER = (
    ("Deploys run on Tuesdays.", "Backups run at night."),
    ("The staging database listens on port 5433.", "The cache listens on port 6379."),
    ("We never deploy on Fridays.", "Money is stored in integer cents."),
    ("Priya owns the payments service.", "Jonas reviews the payments tests before a release."),
)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same(one: str, other: str) -> None:
    """Case, marks and forms of words make no other statement."""
    assert says_same(read_statement(one), read_statement(other))
    assert not contradicts(read_statement(one), read_statement(other))


@pytest.mark.parametrize(("one", "other"), CONTRARY)
def test_contradictions(one: str, other: str) -> None:
    """Another number, another name or a negation is another statement about the same."""
    for first, second in ((one, other), (other, one)):
        assert contradicts(read_statement(first), read_statement(second))
        assert not adds_nothing(read_statement(first), read_statement(second))


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_has_nothing_to_do_with_it(one: str, other: str) -> None:
    """Statements about other things neither repeat nor contradict each other."""
    for first, second in ((one, other), (other, one)):
        assert not contradicts(read_statement(first), read_statement(second))
        assert not adds_nothing(read_statement(first), read_statement(second))


def test_a_part_adds_nothing() -> None:
    """A statement that is part of a longer one adds nothing to it; the longer one does."""
    part = read_statement("Deploys run on Tuesdays.")
    whole = read_statement("Deploys run on Tuesdays at 10, after the stand-up, and Jonas approves each.")
    assert adds_nothing(part, whole)
    assert not adds_nothing(whole, part)
    assert not adds_nothing(read_statement("..."), whole)


def test_digests() -> None:
    """A digest is the same for texts that differ in case, marks and blanks, and for no others."""
    assert digest("Deploys run  on Tuesdays.") == digest("deploys run on tuesdays")
    assert digest("don\u2019t") == digest("Don't!")
    assert digest("port 5432") != digest("port 5433")
    assert digest("\ud800") != digest("")
