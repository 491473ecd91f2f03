"""Cutting tagged stretches out of a text."""

import pytest

from recollect.core.prose import without_injected
from recollect.core.tags import cut_tagged
from recollect.service.inject import ask_of

TAG = r"<([a-z]+)\b[^<>]*>"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <b>c</b> d", "a | d"),
        ("<b>1</b><b>2</b>", "||"),
        ("a <b x='1'>c\n</b>", "a |"),
        ("a <b>c", "a <b>c"),
        ("</b> a <b>c", "</b> a <b>c"),
        ("<p>a <b>c</b> d", "<p>a | d"),
        ("<b>a <p>c</b> d</p>", "| d</p>"),
        ("<b>a <b>c</b> d</b>", "| d</b>"),
        ("", ""),
    ],
)
def test_what_is_closed_is_cut_out_with_its_tags(text: str, left: str) -> None:
    """A tag reaches to the first that closes it; one that nothing closes behind it stays."""
    assert cut_tagged(TAG, text, "|") == left


def test_a_long_text_of_open_tags_is_read_at_once() -> None:
    """A pasted file with type parameters on every line, or a torn log of a client's, does not hold a hook up."""
    code = "private final Map<String, List<Integer>> cache = new HashMap<Key>();\n" * 15_000
    assert without_injected(code) == code
    log = "<system-reminder " + "x" * 300
    assert ask_of(log * 3_000).startswith("<system-reminder")
