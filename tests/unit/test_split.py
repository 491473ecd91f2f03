"""A text that is too long for one memory: cut where it hangs together least, and nothing of it lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.split import split_text

PARAGRAPHS = "\n\n".join(f"Paragraph {number} says {'something ' * 9}and ends." for number in range(12))
LIST = "Things to know\n" + "\n".join(f"- item {number} {'word ' * 12}" for number in range(20))
CODE = "Setup\n\n```sh\n" + "\n\n".join(f"step {number}" for number in range(8)) + "\n```\n\n" + "after it " * 50


def test_what_fits_is_left_as_it_is() -> None:
    """A text of just the length is one part, with every space it had."""
    assert split_text(" a \n" + "x" * 96, 100) == [" a \n" + "x" * 96]


@pytest.mark.parametrize("text", [PARAGRAPHS, LIST, CODE], ids=["paragraphs", "list", "code"])
def test_every_part_fits_and_begins_with_the_heading(text: str) -> None:
    """Every later part stands under the first line of the whole, so that it says what it is about."""
    heading = text.splitlines()[0]
    parts = split_text(text, 400)
    assert len(parts) > 1
    assert all(len(part) <= 400 for part in parts)
    assert all(part.splitlines()[0].startswith(heading[:50]) for part in parts)


def test_paragraphs_and_items_stay_whole() -> None:
    """A paragraph or an item that fits into a part is in one part."""
    together = "\n".join(split_text(PARAGRAPHS, 400))
    assert all(paragraph in together for paragraph in PARAGRAPHS.split("\n\n"))
    together = "\n".join(split_text(LIST, 400))
    assert all(item.rstrip() in together for item in LIST.splitlines())


def test_a_block_of_code_is_not_cut_at_its_empty_lines() -> None:
    """What stands between fences stays together if it can."""
    block = CODE[CODE.index("```") : CODE.rindex("```") + 3]
    assert any(block in part for part in split_text(CODE, 200))


def test_a_heading_without_end_is_shortened() -> None:
    """A first line as long as a memory is repeated by its beginning only."""
    parts = split_text("x" * 1000, 100)
    assert all(len(part) <= 100 for part in parts)
    assert all(part.startswith("x" * 24 + "…\n\n") for part in parts[1:])


@given(st.text(min_size=1, max_size=600).filter(str.strip), st.integers(100, 200))
def test_nothing_but_white_space_is_lost(text: str, limit: int) -> None:
    """Put together again, without the headings, the parts are the text."""
    parts = split_text(text, limit)
    assert all(0 < len(part) <= limit for part in parts)
    assert all(part.strip() for part in parts)
    if len(parts) > 1:
        heading = next(line.strip() for line in text.splitlines() if line.strip())
        heading = heading if len(heading) <= limit // 4 else heading[: limit // 4 - 1].rstrip() + "…"
        assert all(part.startswith(f"{heading}\n\n") for part in parts[1:])
        parts = [parts[0], *(part.removeprefix(f"{heading}\n\n") for part in parts[1:])]
    assert "".join("".join(parts).split()) == "".join(text.split())
