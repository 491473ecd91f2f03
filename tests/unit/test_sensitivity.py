from dataclasses import fields

from making import make_memory
from recollect.core.memory import Memory
from recollect.core.sensitivity import may_leave, placeholder, redact

SECRET = "hunter2"  # noqa: S105
SENSITIVE = make_memory(
    7, f"The password is {SECRET}", tags=(SECRET,), keywords=(SECRET,), sensitive=True, category="facts"
)


def test_nothing_written_into_a_sensitive_memory_is_left() -> None:
    """An agent gets the frame of a sensitive memory and none of its words."""
    redacted = redact(SENSITIVE)
    assert SECRET not in repr(redacted)
    kept = {field.name for field in fields(Memory)} - {"content", "tags", "keywords"}
    assert all(getattr(redacted, name) == getattr(SENSITIVE, name) for name in kept)


def test_the_placeholder_tells_who_can_read_it() -> None:
    """The placeholder names the memory, and no command that would show it to an agent with a shell."""
    assert SENSITIVE.id in placeholder(SENSITIVE)
    assert "recollect " not in placeholder(SENSITIVE)
    assert redact(SENSITIVE).content == placeholder(SENSITIVE)


def test_other_memories_pass_as_they_are() -> None:
    """What is not sensitive is not touched, and may leave the process."""
    plain = make_memory()
    assert redact(plain) is plain
    assert may_leave(plain)
    assert not may_leave(SENSITIVE)
