"""What a user calls a language model, and which model that is."""

from dataclasses import replace
from pathlib import Path

import pytest

from recollect.config import read_config
from recollect.core.errors import ExtractorError
from recollect.extractors.naming import parse_llm
from recollect.stores.sqlite.store import SqliteStore
from recollect.wiring import open_extractor


@pytest.mark.parametrize(
    ("text", "canonical", "variable", "local"),
    [
        ("openai:gpt-4o-mini", "openai:gpt-4o-mini", "OPENAI_API_KEY", False),
        ("openai:gpt-4o-mini@https://api.openai.com/v1/", "openai:gpt-4o-mini", "OPENAI_API_KEY", False),
        (" openai:org/m@HTTP://Host:80/v1 ", "openai:org/m@http://host/v1", "RECOLLECT_EXTRACTOR_KEY", False),
        ("ollama:qwen3:8b", "openai:qwen3:8b@http://127.0.0.1:11434/v1", "RECOLLECT_EXTRACTOR_KEY", True),
        ("ollama:m@http://10.0.0.5/v1", "openai:m@http://10.0.0.5/v1", "RECOLLECT_EXTRACTOR_KEY", False),
    ],
)
def test_every_form_has_one_canonical_name_that_names_it_again(
    text: str, canonical: str, variable: str, local: bool
) -> None:
    """All spellings come down to one; a key is for its own address, and a loopback address is this machine."""
    named = parse_llm(text)
    assert (str(named), named.key_variable, named.is_local) == (canonical, variable, local)
    assert parse_llm(canonical) == named


@pytest.mark.parametrize(
    "text",
    [
        "gpt-4o-mini",
        "openai:",
        "openai:two words",
        "voyage:m",
        "bge-small-en-v1.5",
        "openai:@http://host/v1",
        "openai:m@http://",
        "openai:m@https://ana:hunter2@host/v1",
        "openai:m@https://host/v1?key=hunter2",
        "https://ana:hunter2@host/v1",
    ],
)
def test_what_cannot_be_read_says_how_to_write_it_and_repeats_nothing(text: str) -> None:
    """A name that is none is an error that shows what one looks like, and no key that may hide in it."""
    with pytest.raises(ExtractorError, match=r"openai:MODEL|@http://host:port/v1|RECOLLECT_EXTRACTOR_KEY") as refused:
        parse_llm(text)
    assert "hunter2" not in str(refused.value)


def test_no_model_reads_unless_one_is_named(tmp_path: Path) -> None:
    """Without RECOLLECT_EXTRACTOR there is none; with it, it opens, and OpenAI's own address wants OpenAI's key."""
    store = SqliteStore(str(tmp_path / "memory.db"))
    assert open_extractor(store.budgets, read_config({})) is None
    config = read_config({"RECOLLECT_EXTRACTOR": "openai:gpt-4o-mini", "RECOLLECT_EXTRACTOR_KEY": "sk-own"})
    with pytest.raises(ExtractorError, match="needs a key: set OPENAI_API_KEY"):
        open_extractor(store.budgets, config)
    opened = open_extractor(store.budgets, replace(config, keys={"OPENAI_API_KEY": "sk-1"}))
    assert opened is not None
    assert opened.name == "llm 1 openai:gpt-4o-mini"
    store.close()
