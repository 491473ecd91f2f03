"""Which memories an agent named."""

from making import id_of
from recollect.core.citing import find_cited
from recollect.core.learning import Turn

GIVEN = [id_of(0xA1B2C3D4), id_of(0xBEEF), id_of(0xCAFE)]
BLOCK = "<recalled-memory>\n[a1b2c3d4 | facts | today]\nDeploys run on Tuesdays.\n</recalled-memory>"


def test_an_id_counts_however_it_is_written() -> None:
    """Short as it was shown, or whole, in whatever case and marks: named is named, in the order given."""
    assert find_cited([Turn("assistant", "As [A1B2C3D4] says.")], GIVEN) == (GIVEN[0],)
    assert find_cited([Turn("assistant", f"See `{GIVEN[2]}` and a1b2c3d4.")], GIVEN) == (GIVEN[0], GIVEN[2])


def test_what_does_not_count() -> None:
    """The injected block itself, what the user says, longer numbers and ids that were not given do not count."""
    for turn in (
        Turn("assistant", f"{BLOCK} Hello."),
        Turn("user", "what about a1b2c3d4?"),
        Turn("injected", "a1b2c3d4"),
        Turn("assistant", "commit a1b2c3d4e5, build-a1b2c3d4, xa1b2c3d4"),
        Turn("assistant", "deadbeef"),
    ):
        assert find_cited([turn], GIVEN) == ()
