"""What a user calls a model, and which model that is."""

import pytest

from recollect.core.errors import EmbedderError
from recollect.embedders.naming import ModelName, parse_model


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("bge-small-en-v1.5", "fastembed:BAAI/bge-small-en-v1.5"),
        ("BAAI/bge-small-en-v1.5", "fastembed:BAAI/bge-small-en-v1.5"),
        ("fastembed:bge-large-en-v1.5", "fastembed:BAAI/bge-large-en-v1.5"),
        ("sentence-transformers/all-MiniLM-L6-v2", "fastembed:sentence-transformers/all-MiniLM-L6-v2"),
        ("./model", "folder:./model"),
        ("../model", "folder:../model"),
        ("~/model?pooling=cls", "folder:~/model?pooling=cls"),
        ("/my models/C#/a?b", "folder:/my models/C#/a?b"),
        ("folder:model#0123456789ab", "folder:model#0123456789ab"),
        ("folder:/m?pooling=mean#0123456789ab", "folder:/m?pooling=mean#0123456789ab"),
        ("openai:text-embedding-3-small", "openai:text-embedding-3-small"),
        ("openai:text-embedding-3-large?dimensions=512", "openai:text-embedding-3-large?dimensions=512"),
        ("openai:m@https://api.openai.com/v1/", "openai:m"),
        ("openai:org/m@HTTP://Host.Example:80/v1/", "openai:org/m@http://host.example/v1"),
        ("openai:m@1@https://host/v1", "openai:m@1@https://host/v1"),
        ("openai:m@http://[::1]:8080?dimensions=8", "openai:m@http://[::1]:8080?dimensions=8"),
        ("ollama:nomic-embed-text:v1.5", "openai:nomic-embed-text:v1.5@http://127.0.0.1:11434/v1"),
        ("ollama:m@http://10.0.0.5:11434/v1", "openai:m@http://10.0.0.5:11434/v1"),
        ("voyage:voyage-4?dimensions=256", "voyage:voyage-4?dimensions=256"),
        ("voyage:voyage-4@https://else.example/v1", "voyage:voyage-4@https://else.example/v1"),
        ("cohere:embed-v4.0", "cohere:embed-v4.0"),
    ],
)
def test_every_form_has_one_canonical_name_that_names_it_again(text: str, canonical: str) -> None:
    """All spellings of a model come down to one, and that one stays as it is."""
    assert str(parse_model(text)) == canonical
    assert str(parse_model(canonical)) == canonical


def test_two_servers_are_two_models() -> None:
    """The address is part of the name: two servers may serve different models under one name."""
    names = {str(parse_model(f"openai:m@http://{host}/v1")) for host in ("one:1", "one:2", "two:1")}
    assert len({*names, str(parse_model("openai:m"))}) == 4


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("bge-small-en-v1.5", "local"),
        ("./model", "local"),
        ("ollama:m", "local"),
        ("openai:m@http://127.0.0.9:1/v1", "local"),
        ("openai:m@http://localhost:1/v1", "local"),
        ("openai:m@http://[::1]/v1", "local"),
        ("openai:m", "remote"),
        ("voyage:m", "remote"),
        ("cohere:m", "remote"),
        ("openai:m@http://10.0.0.5/v1", "remote"),
        ("openai:m@http://localhost.example/v1", "remote"),
        ("openai:m@http://0.0.0.0/v1", "remote"),
        ("ollama:m@http://box.local:11434/v1", "remote"),
    ],
)
def test_local_is_what_stays_on_this_machine(text: str, where: str) -> None:
    """Models in this process and servers on a loopback address are local; a network of one's own is not."""
    assert parse_model(text).where == where


@pytest.mark.parametrize(
    "text",
    [
        "openai:m@https://ana:hunter2@host/v1",
        "openai:m@https://hunter2@host/v1",
        "openai:m@https://host/v1?key=hunter2",
        "openai:m@https://host/v1?api_key=hunter2",
        "openai:m@https://host/v1?a=1;hunter2/b",
        "openai:m@https://host/v1#hunter2",
        "openai:m@ftp://ana:hunter2@host/v1",
        "https://ana:hunter2@host/v1",
        "openai:m@http://host:hunter2/v1",
    ],
)
def test_what_may_be_secret_is_refused_and_not_repeated(text: str) -> None:
    """A name is stored and shown, so no key may hide in it; the refusal does not show it either."""
    with pytest.raises(EmbedderError) as refused:
        parse_model(text)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "does not name an embedding model"),
        ("text-embedding-3-small", "openai:MODEL"),
        ("openai:", "openai:NAME"),
        ("openai:two words", "openai:NAME"),
        ("openai:m?dimension=8", "'dimension'"),
        ("openai:m?dimensions=0", "?dimensions=512"),
        ("openai:m?dimensions=many", "?dimensions=512"),
        ("openai:m?dimensions=99999", "?dimensions=512"),
        ("openai:m?pooling=cls", "'dimensions'"),
        ("openai:@http://host/v1", "@http://host:port/v1"),
        ("openai:m@http://", "@http://host:port/v1"),
        ("openai:m@http://[::1/v1", "@http://host:port/v1"),
        ("openai:m#0123456789ab", "Only the name of a folder"),
        ("bge-small-en-v1.5?dimensions=8", "Leave it out"),
        ("./m?pooling=max", "mean, cls, last, none"),
        ("./m?dimensions=8", "'pooling'"),
    ],
)
def test_what_cannot_be_read_says_how_to_write_it(text: str, says: str) -> None:
    """A name that is none is an error that shows what one looks like."""
    with pytest.raises(EmbedderError) as refused:
        parse_model(text)
    assert says in str(refused.value)


def test_a_providers_key_is_for_its_own_address_only() -> None:
    """Whoever names another address sends the key of that address there, never the provider's."""
    assert parse_model("openai:m").key_variable == "OPENAI_API_KEY"
    assert parse_model("voyage:m").key_variable == "VOYAGE_API_KEY"
    assert parse_model("cohere:m").key_variable == "COHERE_API_KEY"
    assert parse_model("ollama:m").key_variable == "RECOLLECT_EMBEDDER_KEY"
    assert parse_model("voyage:m@https://else.example").key_variable == "RECOLLECT_EMBEDDER_KEY"


def test_a_name_is_a_value() -> None:
    """Equal names are equal, whatever they were read from."""
    assert parse_model("ollama:m") == ModelName("openai", "m", url="http://127.0.0.1:11434/v1")
