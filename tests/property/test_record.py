import json
from dataclasses import replace
from datetime import timedelta

from hypothesis import example, given
from hypothesis import strategies as st

from making import make_memory
from recollect.core.errors import RecollectError
from recollect.core.memory import Memory, Revision
from recollect.core.record import format_time, from_history, from_record, parse_time, to_history, to_record
from strategies import any_text, memories, moments

json_values: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | any_text,
    lambda values: st.lists(values, max_size=3) | st.dictionaries(any_text, values, max_size=3),
    max_leaves=5,
)
FIELDS = sorted(to_record(make_memory()))


@given(memories)
def test_a_record_reads_back_as_it_was(memory: Memory) -> None:
    """Any memory survives the way to JSON and back unchanged."""
    assert from_record(json.loads(json.dumps(to_record(memory)))) == memory
    assert from_record(json.loads(json.dumps(to_record(memory), ensure_ascii=False))) == memory


@given(memories, st.integers(1, 5))
def test_a_history_reads_back_as_it_was(memory: Memory, length: int) -> None:
    """Any row of states survives the way to JSON and back, in order."""
    start = memory.updated_at - timedelta(days=1) if memory.updated_at.year > 9000 else memory.updated_at
    states = [
        replace(memory, version=number, updated_at=start + timedelta(microseconds=number))
        for number in range(1, length + 1)
    ]
    record = to_history([Revision(state, None) for state in states])
    assert from_history(json.loads(json.dumps(record))) == states


@given(moments)
def test_a_time_reads_back_as_it_was(moment: object) -> None:
    """A time is written to the microsecond, and texts of times sort as the times do."""
    assert parse_time(format_time(moment)) == moment  # type: ignore[arg-type]


@given(st.dictionaries(st.sampled_from(FIELDS) | any_text, json_values, max_size=4))
@example({"created_at": None})
@example({"updated_at": None})
def test_a_record_from_anywhere_is_a_memory_or_refused(fields: dict[str, object]) -> None:
    """Whatever stands in a record's fields, reading it gives a memory whose times are times, or one of our errors."""
    try:
        memory = from_record({**to_record(make_memory()), **fields})
    except RecollectError:
        return
    assert memory.created_at.tzinfo is memory.updated_at.tzinfo
    assert from_record(to_record(memory)) == memory
