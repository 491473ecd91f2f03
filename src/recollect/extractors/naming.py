"""What a user calls a language model -> which model that is. Pure.

| name           | model                                                                |
|----------------|----------------------------------------------------------------------|
| openai:MODEL   | OpenAI; with `@http://host:port/v1` any server that speaks as it     |
| ollama:MODEL   | the same as openai:MODEL@http://127.0.0.1:11434/v1                   |

`str` of a name is its canonical form and names the same model again.
"""

import re
from dataclasses import dataclass
from typing import Final

from recollect.core.errors import ExtractorError
from recollect.remote.address import OLLAMA, OPENAI, is_here, split_address

OWN_KEY: Final = "RECOLLECT_EXTRACTOR_KEY"

_NAME: Final = re.compile(r"(openai|ollama):(\S+)")


@dataclass(frozen=True, slots=True)
class LlmName:
    name: str
    url: str = ""
    """Where it is served, if not at OpenAI's own address."""

    @property
    def address(self) -> str:
        return self.url or OPENAI

    @property
    def key_variable(self) -> str:
        """Which variable holds its server's key: OpenAI's key is for OpenAI's own address only."""
        return OWN_KEY if self.url else "OPENAI_API_KEY"

    @property
    def is_local(self) -> bool:
        """Whether text stays on this machine."""
        return is_here(self.address)

    def __str__(self) -> str:
        return f"openai:{self.name}{f'@{self.url}' if self.url else ''}"


def parse_llm(text: str) -> LlmName:
    named = _NAME.fullmatch(text.strip())
    if named is None:
        # Not repeated: a password may be in it.
        raise ExtractorError(
            "RECOLLECT_EXTRACTOR does not name a language model. Write openai:MODEL, "
            "openai:MODEL@http://host:port/v1 or ollama:MODEL, or leave it out to have none."
        )
    name, url = split_address(named[2], OWN_KEY, ExtractorError)
    if named[1] == "ollama":
        url = url or OLLAMA
    return LlmName(name, "" if url == OPENAI else url)
