"""What a user calls a model -> which model that is. Pure: no file, no network, no library is looked at.

| name                                      | model                                                               |
|-------------------------------------------|---------------------------------------------------------------------|
| bge-small-en-v1.5                         | one of BAAI's bge models, run here by fastembed                     |
| BAAI/bge-small-en-v1.5, fastembed:BAAI/…  | any model that fastembed knows, by its full name                    |
| ./folder, ../folder, /folder, ~/folder,   | the model.onnx and tokenizer.json in a folder, run here;            |
| folder:…                                  | `?pooling=mean` (cls, last, none) where the folder does not say     |
| openai:MODEL                              | OpenAI; with `@http://host:port/v1` any server that speaks as it    |
| ollama:MODEL                              | the same as openai:MODEL@http://127.0.0.1:11434/v1                  |
| voyage:MODEL, cohere:MODEL                | Voyage, Cohere; with `@…` another address that speaks as they do    |

Hosted models take `?dimensions=512`. `str` of a name is its canonical form and names the same model again.
"""

import re
from dataclasses import dataclass
from typing import Literal, cast

from recollect.core.errors import EmbedderError
from recollect.remote.address import BAD_ADDRESS, OLLAMA, OPENAI, is_here, split_address

Provider = Literal["fastembed", "folder", "openai", "voyage", "cohere"]
Pooling = Literal["mean", "cls", "last", "none"]

ADDRESSES = {
    "openai": OPENAI,
    "voyage": "https://api.voyageai.com/v1",
    "cohere": "https://api.cohere.com/v2",
}
OWN_KEY = "RECOLLECT_EMBEDDER_KEY"
POOLINGS = ("mean", "cls", "last", "none")
LONGEST_VECTOR = 65_536

_PREFIX = re.compile(r"(fastembed|folder|openai|ollama|voyage|cohere):(.*)", re.DOTALL)
# Anchored at the end, so that a folder may have these marks in its path.
_ENDING = re.compile(r"(?:\?(?P<options>[a-z]+=[^?#&=/]*(?:&[a-z]+=[^?#&=/]*)*))?(?:#(?P<digest>[0-9a-f]{12}))?\Z")


@dataclass(frozen=True, slots=True)
class ModelName:
    provider: Provider
    name: str
    """The model's own name; for a folder its path."""
    url: str = ""
    """Where a hosted model is served, if not at its provider's own address."""
    dimensions: int | None = None
    pooling: Pooling | None = None
    digest: str = ""
    """What the folder held when it was named."""

    @property
    def address(self) -> str:
        return self.url or ADDRESSES[self.provider]

    @property
    def key_variable(self) -> str:
        """Which variable holds its server's key: a provider's key is for that provider's own address only."""
        return OWN_KEY if self.url else f"{self.provider.upper()}_API_KEY"

    @property
    def where(self) -> Literal["local", "remote"]:
        """Whether text stays on this machine: it does in this process, and on the way to a loopback address."""
        if self.provider in ("fastembed", "folder"):
            return "local"
        return "local" if is_here(self.address) else "remote"

    def __str__(self) -> str:
        ending = f"?dimensions={self.dimensions}" if self.dimensions else ""
        ending += f"?pooling={self.pooling}" if self.pooling else ""
        ending += f"#{self.digest}" if self.digest else ""
        return f"{self.provider}:{self.name}{f'@{self.url}' if self.url else ''}{ending}"


def parse_model(text: str) -> ModelName:
    """Read a model's name, in any of its forms."""
    ending = cast("re.Match[str]", _ENDING.search(text))  # It matches the empty end at least.
    provider, rest = _split_provider(text[: ending.start()].strip())
    if not rest or (provider != "folder" and re.search(r"\s", rest)):
        raise EmbedderError(f"{provider}: is not followed by the name of a model. Write it as {provider}:NAME.")
    options = dict(option.split("=", 1) for option in (ending["options"] or "").split("&") if option)
    if provider == "folder":
        return ModelName("folder", rest, pooling=_take_pooling(options), digest=ending["digest"] or "")
    if ending["digest"]:
        raise EmbedderError(f"Only the name of a folder ends in #{ending['digest']}: leave that out.")
    if provider == "fastembed":
        _refuse(options, "")
        return ModelName("fastembed", f"BAAI/{rest}" if rest.startswith("bge-") else rest)
    name, url = split_address(rest, OWN_KEY, EmbedderError)
    if provider == "ollama":
        provider, url = "openai", url or OLLAMA
    dimensions = _take_dimensions(options)
    url = "" if url == ADDRESSES[provider] else url
    return ModelName(cast("Provider", provider), name, url=url, dimensions=dimensions)


def _split_provider(text: str) -> tuple[str, str]:
    if prefixed := _PREFIX.fullmatch(text):
        return prefixed[1], prefixed[2]
    if text.startswith(("./", "../", "/", "~")) or text in (".", ".."):
        return "folder", text
    if "://" in text:
        raise EmbedderError(BAD_ADDRESS)  # Not repeated: a password may be in it.
    if text.startswith("bge-") or re.fullmatch(r"[^\s/:@]+/[^\s/:@]+", text):
        return "fastembed", text
    raise EmbedderError(
        f"{text!r} does not name an embedding model. Try bge-small-en-v1.5, a folder such as ./model, "
        "openai:MODEL, openai:MODEL@http://127.0.0.1:8080/v1, ollama:MODEL, voyage:MODEL or cohere:MODEL."
    )


def _take_pooling(options: dict[str, str]) -> Pooling | None:
    pooling = options.pop("pooling", None)
    _refuse(options, "pooling")
    if pooling is not None and pooling not in POOLINGS:
        raise EmbedderError(f"There is no pooling {pooling!r}. Choose one of {', '.join(POOLINGS)}.")
    return cast("Pooling | None", pooling)


def _take_dimensions(options: dict[str, str]) -> int | None:
    dimensions = options.pop("dimensions", None)
    _refuse(options, "dimensions")
    if dimensions is None:
        return None
    if not re.fullmatch(r"[0-9]{1,5}", dimensions) or not 0 < int(dimensions) <= LONGEST_VECTOR:
        raise EmbedderError(f"{dimensions!r} is no number of dimensions. Write one like ?dimensions=512.")
    return int(dimensions)


def _refuse(options: dict[str, str], known: str) -> None:
    if options:
        # Only the option's name is repeated: its value may be a key that was pasted there.
        remedy = f"It has {known!r}." if known else "Leave it out."
        raise EmbedderError(f"A model of this kind has no option {next(iter(options))!r}. {remedy}")
