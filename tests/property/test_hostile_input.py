"""Text that nobody would type, through the front door: remembered exactly or refused, and asked for without harm.

`RECOLLECT_FUZZ_EXAMPLES` says how many inputs are made up; 20,000 take a few minutes.
"""

# ruff: noqa: RUF001 - characters that look like others are the point

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import ToyEmbedder
from making import StandingClock, open_recollect, use_model
from recollect.core.analysis import analyse_query
from recollect.core.errors import RecollectError, Refused, TooLong
from recollect.core.memory import Memory
from recollect.service.embed import embed_waiting
from recollect.service.recollect import Recollect
from strategies import any_text

EXAMPLES = int(os.environ.get("RECOLLECT_FUZZ_EXAMPLES", "1000"))
MEGABYTE = 1_000_000

CORPUS = (
    # Statements and operators of SQL and of full-text engines.
    "'; DROP TABLE memories; --", '" OR ""="', "' OR 1=1 --", '" OR NEAR( * ^ -', "NEAR(a b, 5)", "a AND NOT b OR (c",
    "kiwi* ^melon -plum +fig", "content:kiwi", "{a b}: c", "col : NEAR", '"unbalanced', "MATCH 'x' RANK", "?1 :x @x $y",
    "%", "_", "%%__%%", "100% of_it", "\\%", "LIKE '%x%' ESCAPE '\\'", "/* */ -- ;", "<script>alert(1)</script>",
    "{{7*7}}", "${jndi:ldap://x}", "../../etc/passwd", "C:\\Windows\\..\\x", "$(rm -rf /)", "`id`",
    "\r\nSet-Cookie: x", "%00%0a",
    # Control characters and invisible ones.
    "\x00", "a\x00b", "\x01\x02\x03\x1b[31mred\x1b[0m", "\x7f\x80\x85\x9f", "\ufeffBOM", "\u200b\u200c\u200d\u2060",
    "\u2028\u2029", "\x0b\x0c\x1c\x1d\x1e\x1f", "tab\there", "\u00ad soft\u00adhyphen", "\ufffe\uffff", "\U0010ffff",
    # Halves of surrogate pairs.
    "\ud800", "\udfff", "a\ud83db", "\ude00\ud83d", "ok \udc80 ok",
    # Right to left, marks that turn text around, scripts of all kinds.
    "שלום עולם", "مرحبا بالعالم", "\u202eevil\u202c", "\u2066\u2067\u2069 isolate", "مُحَمَّد", "हिन्दी में", "ไม่มีช่องว่าง",
    "東京都庁舎", "데이터베이스", "ខ្មែរ", "မြန်မာ", "བོད་ཡིག", "ދިވެހި", "Ελληνικά ς", "İstanbul ıI", "ﬀ ﬁ ﬃ",
    "ŉ ǰ ΐ", "K Å Ω",
    "Z̸̡̢̛a̵l̷g̶o̴", "e" + "\u0301" * 500, "ａｂｃ１２３", "①②③ Ⅳ ½", "𝕳𝖊𝖑𝖑𝖔", "𒀀𒀁", "\U000e0041\U000e007f",
    # Emoji with joiners, flags, skin tones.
    "👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇩🇪🇯🇵", "#️⃣", "❤️",
    # Long tokens, deep paths, many separators.
    "a" * 5000, "ab1" * 700, "x_" * 600, "a.b" * 400, "/" * 1000, "-" * 1000, "'" * 1000, '"' * 999, "::" * 500,
    "A" * 65, "a/b\\c:d@e~f+g#h'i’j" * 40, "+" * 300 + "#", "C++" * 200, "n't" * 100, "'s 's 's",
    # Nothing much, stop words, numbers.
    " ", "\n", ".", "?", "...", "the", "to be or not to be", "don't", "N'T", "I", "0", "-1", "1e999", "NaN", "nan inf",
    "0x41", "2026-02-30", "10.0.0.1:5432", "true false null None", "[]", "{}", '{"a": [1, 2',
    "\\u0000", "\\", "\\\\\"\\'",
)  # fmt: skip

LARGE = {
    "one token": "a1" * (MEGABYTE // 2),
    "one name of many parts": "a." * (MEGABYTE // 2 - 1) + "b",
    "one run of Han": "漢字" * (MEGABYTE // 2),
    "one letter with accents": "e" + "\u0301" * (MEGABYTE - 1),
    "many distinct words": " ".join(f"{n:x}" for n in range(MEGABYTE // 6))[:MEGABYTE],
    "stop words": "to be or not " * (MEGABYTE // 13),
    "no words": "+" * MEGABYTE,
}

texts = st.one_of(
    st.sampled_from(CORPUS),
    any_text,
    st.lists(st.sampled_from(CORPUS) | any_text | st.sampled_from([" ", "", "\n"]), min_size=1, max_size=5).map(
        "".join
    ),
    st.builds(lambda piece, times: piece * times, any_text.filter(bool), st.integers(1, 200)),
)
_numbers = count()
_INPUTS_IN_A_SPACE = 500
"""A new space for every so many inputs keeps the last of 20,000 as quick as the first."""


def _open(folder: Path, weight_of_exact: str) -> Recollect:
    """Open a store that is patient with large inputs, by words and by meaning."""
    opened = open_recollect(folder / "memory.db", StandingClock(), open_embedder=ToyEmbedder)
    use_model(opened.store)
    opened.set("length-limit", str(MEGABYTE))
    opened.set("leg-timeout-ms", "600000")
    opened.set("weight.exact", weight_of_exact)
    return opened


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recollect]:
    """Open the one store that all inputs go into, all legs on."""
    with _open(tmp_path_factory.mktemp("hostile"), "1") as opened:
        yield opened


def _embed(memory: Recollect) -> None:
    embed_waiting(memory.store, memory.gates.of("toy"))


def _ask(memory: Recollect, text: str, session: str | None) -> tuple[list[Memory], set[str]]:
    """Recall, within a session if one is given, and give what was found and by which legs.

    A leg that fails is as bad as a recall that raises.
    """
    answer = memory.recall(text, sessions=[] if session is None else [session])
    assert answer.notices == ()
    return [found.memory for found in answer.results], {leg.leg for leg in answer.trace.answers if leg.hits}


def _put_through(memory: Recollect, text: str) -> None:
    """Remember a text, read it back, and ask for it and for pieces of it."""
    number = next(_numbers)
    memory, session = replace(memory, space=f"space {number // _INPUTS_IN_A_SPACE}"), f"session {number}"
    kept = None
    try:
        kept = memory.remember(text, session=session)
    except Refused:
        assert not text.strip() or "\0" in text or any("\ud800" <= character <= "\udfff" for character in text)
    else:
        _embed(memory)
        back = memory.get(kept.id)
        assert back == kept
        assert back.content.encode() == text.encode()
    third = len(text) // 3
    for asked in (text, text[third : 2 * third + 1]):
        if not asked.strip():
            continue
        found, legs = _ask(memory, asked, session)
        assert found == [kept] * (kept is not None)
        if kept is not None and asked is text and analyse_query(text).terms:
            assert "lexical" in legs


@settings(max_examples=EXAMPLES)
@given(texts)
def test_any_text_is_kept_exactly_or_refused_and_can_be_asked_for(memory: Recollect, text: str) -> None:
    """What is accepted comes back byte for byte and is found by itself; nothing raises anything but our own errors."""
    _put_through(memory, text)


@pytest.mark.parametrize("text", CORPUS, ids=range(len(CORPUS)))
def test_the_corpus_is_kept_exactly_or_refused_and_can_be_asked_for(memory: Recollect, text: str) -> None:
    """The known troublemakers are put through one by one, so that a failure names its text."""
    _put_through(memory, text)


@pytest.mark.parametrize("kind", LARGE)
def test_a_million_characters_are_a_memory_and_a_query(tmp_path: Path, kind: str) -> None:
    """The longest memory that a setting allows is kept, read back and asked for; one character more is refused."""
    with _open(tmp_path, "0") as memory:
        kept = memory.remember(LARGE[kind])
        _embed(memory)
        assert memory.get(kept.id) == kept
        found, legs = _ask(memory, LARGE[kind], None)
        assert (found, "lexical" in legs) == ([kept], kind != "no words")
        with pytest.raises(TooLong):
            memory.remember(LARGE[kind].ljust(MEGABYTE, "x") + "x")


@settings(max_examples=max(50, EXAMPLES // 10))
@given(texts, texts, texts)
def test_any_label_is_kept_exactly_or_refused(memory: Recollect, one: str, two: str, three: str) -> None:
    """Categories, tags, keywords, projects, sessions and ids of any text are kept and matched exactly, or refused."""
    try:
        kept = memory.remember("labelled", category=one, tags=[two, three], keywords=[three], project=two, session=one)
    except RecollectError:
        pass
    else:
        _embed(memory)
        assert memory.get(kept.id) == kept
        assert (kept.category, kept.tags, kept.keywords) == (one, (two, three), (three,))
        found = memory.recall("labelled", categories=[one], project=two, sessions=[one], limit=1000)
        assert found.notices == ()
        assert kept in [each.memory for each in found.results]
        if two != ".":
            other = memory.recall("labelled", categories=[one], project=f"{two}x", sessions=[one], limit=1000)
            assert kept not in [each.memory for each in other.results]
    with suppress(RecollectError):
        assert memory.recall(one, categories=[two], project=three, sessions=[one], exclude=[two, three]).notices == ()
    with suppress(RecollectError):
        memory.remember("an id of one's own", id=one)
        _embed(memory)


@settings(max_examples=max(50, EXAMPLES // 10))
@given(texts)
def test_any_text_is_a_handle_of_nothing(memory: Recollect, text: str) -> None:
    """Whatever is given for an id, the answer is a memory or one of our errors."""
    for deed in (memory.get, memory.forget, memory.undo, memory.purge, memory.history):
        with suppress(RecollectError):
            deed(text)
    with suppress(RecollectError):
        memory.link(text, text, text)
    with suppress(RecollectError):
        memory.unlink(text, text, text)


@settings(max_examples=max(50, EXAMPLES // 10))
@given(st.lists(texts, max_size=4))
def test_any_lines_are_an_import_or_refused(memory: Recollect, lines: list[str]) -> None:
    """Whatever a file holds, importing it takes in nothing that is not a memory, and raises our own errors only."""
    with suppress(RecollectError):
        memory.import_lines(lines)
    outcome = memory.import_lines(['{"recollect":"export","format":1}', *lines])
    assert (outcome.added, outcome.links) == (0, 0)


@settings(max_examples=max(50, EXAMPLES // 10))
@given(texts, texts)
def test_any_setting_is_known_or_refused(memory: Recollect, name: str, value: str) -> None:
    """No text is a setting but those there are, and no value sets one but those it takes."""
    for setting in (name, "limit", "fusion"):
        with suppress(RecollectError):
            memory.set(setting, value)
    memory.set("limit", None)
    memory.set("fusion", None)


def test_the_store_is_healthy_after_all_that(memory: Recollect) -> None:
    """After everything above, index and counts agree with the rows."""
    assert memory.store.examine(lambda _done, _total: None) == []
