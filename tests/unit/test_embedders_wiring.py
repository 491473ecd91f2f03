"""From a model's name to an open model, and the words kept from every one of them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from making import models_folder
from provider_server import Provider, serve, vector_of
from recollect.config import Config, read_config
from recollect.core.errors import EmbedderError
from recollect.wiring import open_embedder


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serve() as serving:
        yield serving


@pytest.fixture
def config(tmp_path: Path) -> Config:
    keys = {"OPENAI_API_KEY": "sk-openai", "RECOLLECT_EMBEDDER_KEY": "sk-own"}
    return replace(read_config({"RECOLLECT_HOME": str(tmp_path)}), keys=keys)


@pytest.mark.parametrize("address", ["openai/v1", "voyage/v1", "cohere/v2"])
def test_a_hosted_model_opens_by_its_name(provider: Provider, config: Config, address: str) -> None:
    """Each provider's adapter is chosen by name, gets the key of its address, and its model's name opens it again."""
    name = f"{address.split('/', maxsplit=1)[0]}:m@{provider.address}/{address}"
    embedder = open_embedder(name, config)
    assert embedder.embed_query("asked", 30) == vector_of("asked")
    assert (embedder.model, embedder.where) == (name, "local")
    assert open_embedder(embedder.model, config).model == name
    assert provider.headers[0]["authorization"] == "Bearer sk-own"
    assert b"sk-openai" not in provider.received


def test_a_providers_own_address_gets_its_own_key(config: Config) -> None:
    """OpenAI opens with its key; Voyage and Cohere, whose keys are not set, name their variable."""
    assert open_embedder("openai:text-embedding-3-small", config).where == "remote"
    for provider in ("voyage", "cohere"):
        with pytest.raises(EmbedderError, match=f"set {provider.upper()}_API_KEY"):
            open_embedder(f"{provider}:m", config)


def test_a_folder_opens_by_its_path_and_by_its_full_name(config: Config) -> None:
    """A path is enough, and what the embedder calls itself is the same model."""
    embedder = open_embedder(str(models_folder() / "all-MiniLM-L6-v2"), config)
    assert open_embedder(embedder.model, config).model == embedder.model
    assert embedder.where == "local"


def test_a_named_model_is_looked_for_where_the_configuration_says(config: Config) -> None:
    """A model that is not in the folder for models is not fetched unless that was allowed."""
    with pytest.raises(EmbedderError, match="recollect embed --model"):
        open_embedder("bge-small-en-v1.5", config)
    assert Path(config.models).is_dir()


def test_the_environment_is_read_when_no_configuration_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a configuration the keys are those of the environment."""
    monkeypatch.setenv("VOYAGE_API_KEY", "pa-1")
    assert open_embedder("voyage:voyage-4").model == "voyage:voyage-4"
