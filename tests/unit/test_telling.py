"""What ties two memories is told in few words."""

from making import ref_of
from recollect.core.spread import Tie, TieKind, Way
from recollect.core.telling import describe_ways, telling


def way(name: str, kind: TieKind = "names") -> Way:
    return Way(ref_of(1), kind, name, 0.1)


def named(*ties: tuple[TieKind, str]) -> list[str]:
    return [tie.name for tie in telling([Tie(kind, name, ()) for kind, name in ties])]


def test_what_another_says_too_is_left_out() -> None:
    """The words of a name, the parts of a path and a second spelling say nothing of their own."""
    assert named(("names", "Rex Harrison"), ("terms", "harrison"), ("terms", "rex")) == ["Rex Harrison"]
    assert named(("names", "docs/release.md"), ("names", "release.md"), ("terms", "doc")) == ["docs/release.md"]
    assert named(("names", "TAX_TIMEOUT_MS"), ("names", "tax_timeout_ms"), ("names", "MS")) == ["TAX_TIMEOUT_MS"]
    assert named(("relations", "Rex Harrison married Kay Kendall"), ("names", "Kay Kendall")) == [
        "Rex Harrison married Kay Kendall"
    ]


def test_what_says_something_else_is_kept() -> None:
    """A word that is in no name, and a link whatever it is called, are told."""
    assert named(("names", "Rex Harrison"), ("terms", "oscar"), ("links", "see-also")) == [
        "Rex Harrison",
        "oscar",
        "see-also",
    ]
    assert named(("links", "part-of"), ("terms", "part")) == ["part-of", "part"]
    assert named(("terms", "releas"), ("terms", "train")) == ["releas", "train"]
    assert named() == []


def test_ways_in_words() -> None:
    """Names and words are quoted, links named, and beyond a few the rest is counted."""
    assert describe_ways([way("Rex Harrison")]) == "'Rex Harrison'"
    assert describe_ways([way("Rex Harrison"), way("oscar", "terms")]) == "'Rex Harrison' and 'oscar'"
    assert describe_ways([way("see-also", "links"), way("The Who"), way("b")]) == (
        "the link see-also, 'The Who' and 'b'"
    )
    assert describe_ways([way(each) for each in ("one", "two", "three", "four", "five")]) == (
        "'one', 'two', 'three' and 2 more"
    )
