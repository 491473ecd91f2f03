"""Local models: two real ones from folders, named ones from a cache as fastembed lays it out, and no network."""

import json
import shutil
import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from making import about, models_folder
from recollect.core.errors import EmbedderError
from recollect.core.vectors import Vector
from recollect.embedders.fastembed import BATCH, FastEmbedder, describe, open_fastembed, open_folder
from recollect.embedders.folder import identify
from recollect.embedders.naming import parse_model

MINILM = models_folder() / "all-MiniLM-L6-v2"
GRANITE = models_folder() / "granite-embedding-30m-english-int8"

TEXTS = [
    "Deploys run every Tuesday from the main branch.",
    "We release to production once a week, on Tuesdays.",
    "The cat prefers the window seat in the morning sun.",
]


def cosine(one: Vector, other: Vector) -> float:
    return float(np.dot(np.asarray(one), np.asarray(other)))


@pytest.fixture(scope="module")
def minilm() -> FastEmbedder:
    return open_folder(parse_model(str(MINILM)), threads=1)


@pytest.fixture(scope="module")
def granite() -> FastEmbedder:
    return open_folder(parse_model(str(GRANITE)), threads=1)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Let nothing connect, and keep what tried to."""
    tried: list[object] = []

    def refuse(_: socket.socket, address: object) -> None:
        tried.append(address)
        raise OSError("no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    return tried


def test_a_real_model_gives_unit_vectors_that_know_meaning(minilm: FastEmbedder) -> None:
    """A paraphrase is nearer than what is unrelated, and every vector has length 1."""
    first, paraphrase, unrelated = minilm.embed_documents(TEXTS)
    assert [cosine(vector, vector) for vector in (first, paraphrase, unrelated)] == [about(1.0, 1e-5)] * 3
    assert cosine(first, paraphrase) > 0.5 > cosine(first, unrelated) + 0.3
    query = minilm.embed_query("when do we ship?", 5)
    assert cosine(query, first) > cosine(query, unrelated)
    assert (minilm.dimension, minilm.where) == (384, "local")


def test_a_text_has_the_same_vector_in_any_batch(minilm: FastEmbedder) -> None:
    """Alone, among longer ones, in another batch, as a query: the vector of a text is its own, in its own place."""
    many = [f"{text} {'And so on. ' * (number % 7)}{number}" for number, text in enumerate(TEXTS * 14)]
    assert len(many) > BATCH
    alone = [minilm.embed_documents([text])[0] for text in many[:5]]
    together = minilm.embed_documents(many)
    assert [cosine(one, other) for one, other in zip(alone, together[:5], strict=True)] == [about(1.0, 1e-5)] * 5
    assert cosine(alone[0], minilm.embed_query(many[0], 5)) == about(1.0, 1e-5)
    assert minilm.embed_documents([]) == []


def test_two_models_have_two_identities(minilm: FastEmbedder, granite: FastEmbedder) -> None:
    """Models of equal dimension are told apart by name, and the name opens the same one again."""
    first, paraphrase, unrelated = granite.embed_documents(TEXTS)
    assert cosine(first, paraphrase) > cosine(first, unrelated)
    assert granite.dimension == minilm.dimension
    assert granite.model != minilm.model
    again = open_folder(parse_model(minilm.model), threads=1)
    assert again.model == minilm.model
    assert again.embed_documents(TEXTS[:1]) == minilm.embed_documents(TEXTS[:1])


def test_each_model_pools_as_it_was_trained_to(granite: FastEmbedder) -> None:
    """The other pooling is another model, with another name and other vectors."""
    other = open_folder(parse_model(f"{GRANITE}?pooling=mean"), threads=1)
    assert "?pooling=mean#" in other.model
    assert other.model != granite.model
    assert cosine(other.embed_query(TEXTS[0], 5), granite.embed_query(TEXTS[0], 5)) < 0.99
    assert open_folder(parse_model(f"{GRANITE}?pooling=cls"), threads=1).model == granite.model


def test_texts_of_about_one_length_go_together() -> None:
    """Texts are sorted by length for the model, and put back."""
    asked: list[list[str]] = []

    class Counting:
        def embed(self, documents: list[str], batch_size: int) -> Iterator[NDArray[np.float32]]:
            asked.append(documents)
            assert batch_size == BATCH
            yield from (np.array([len(text), 1], dtype=np.float32) for text in documents)

    embedder = FastEmbedder("m", Counting(), query_prefix="ask: ")
    assert embedder.embed_documents(["aa", "a", "aaaa"]) == [[2, 1], [1, 1], [4, 1]]
    assert embedder.embed_query("b", 1) == [6, 1]
    assert asked == [["aaaa", "aa", "a"], ["ask: b"]]


class Broken:
    def __init__(self, vectors: Sequence[NDArray[np.float32]]) -> None:
        self.vectors = vectors

    def embed(self, documents: list[str], batch_size: int) -> Iterator[NDArray[np.float32]]:
        yield from self.vectors[: len(documents) + batch_size]


@pytest.mark.parametrize(
    "vectors",
    [[], [np.ones(2, np.float32)] * 2, [np.ones(3, np.float32)], [np.ones(0, np.float32)], [np.float32(1.0)]],
)
def test_a_model_that_answers_otherwise_is_an_error(vectors: Sequence[NDArray[np.float32]]) -> None:
    """Too few or too many vectors, or vectors of another length, end in an error that says what came."""
    with pytest.raises(EmbedderError, match="2 numbers were expected"):
        FastEmbedder("m", Broken(vectors), dimension=2).embed_query("text", 1)


# What a folder holds


def _copy(source: Path, target: Path) -> Path:
    """Copy the small files and link the large ones."""
    target.mkdir()
    for file in source.iterdir():
        if file.suffix == ".onnx":
            (target / file.name).symlink_to(file)
        else:
            shutil.copyfile(file, target / file.name)
    return target


def test_the_identity_is_the_content(tmp_path: Path) -> None:
    """Copies share a digest wherever they are; a change of any file that shapes vectors makes another model."""
    digest = identify(parse_model(str(MINILM))).digest
    copied = _copy(MINILM, tmp_path / "my all-MiniLM")
    named = identify(parse_model(str(copied)))
    assert named.digest == digest
    assert str(identify(parse_model(str(named)))) == str(named)
    digests = {digest}
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "model.onnx_data"):
        with (copied / name).open("a") as opened:
            opened.write(" ")
        digests.add(identify(parse_model(str(copied))).digest)
    (copied / "model.onnx").unlink()
    (copied / "model.onnx").symlink_to(GRANITE / "model.onnx")
    digests.add(identify(parse_model(str(copied))).digest)
    assert len(digests) == 6
    with pytest.raises(EmbedderError, match="now holds another model"):
        open_folder(named)


def test_bytes_cannot_move_between_files_unseen(tmp_path: Path) -> None:
    """Two folders whose files differ only in where one ends and the next begins are two models."""
    digests: list[str] = []
    for model, data in ((b"ab", b"c"), (b"a", b"bc")):
        folder = tmp_path / f"all-minilm-{len(digests)}"
        folder.mkdir()
        for name, octets in (("model.onnx", model), ("model.onnx_data", data)):
            (folder / name).write_bytes(octets)
        for name in ("tokenizer.json", "tokenizer_config.json"):
            (folder / name).write_bytes(b"{}")
        digests.append(identify(parse_model(str(folder))).digest)
    assert len(set(digests)) == 2


@pytest.mark.parametrize(
    ("said", "pooling"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, "mean"),
        ({"pooling_mode_lasttoken": True}, "last"),
    ],
)
def test_sentence_transformers_say_how_they_pool(tmp_path: Path, said: object, pooling: str) -> None:
    """1_Pooling/config.json counts before the folder's name, and is then not part of the model's."""
    folder = _copy(MINILM, tmp_path / "all-MiniLM")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(said))
    named = identify(parse_model(str(folder)))
    assert named.pooling is None
    assert identify(parse_model(f"{folder}?pooling={pooling}")) == named


@pytest.mark.parametrize("said", [{"pooling_mode_max_tokens": True}, {}, None])
def test_a_pooling_nobody_knows_is_asked_for(tmp_path: Path, said: object) -> None:
    """A wrong pooling gives vectors that look right and are not, so none is guessed."""
    folder = _copy(MINILM, tmp_path / "mine")
    if said is not None:
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(said))
    with pytest.raises(EmbedderError, match=r"Add \?pooling=mean or \?pooling=cls"):
        open_folder(parse_model(str(folder)))
    assert open_folder(parse_model(f"{folder}?pooling=mean")).model.endswith(
        f"mine?pooling=mean#{identify(parse_model(str(MINILM))).digest}"
    )


@pytest.mark.parametrize("content", ["{", "[]"])
def test_a_pooling_that_cannot_be_read_is_an_error(tmp_path: Path, content: str) -> None:
    """A damaged 1_Pooling/config.json is named, not passed over."""
    folder = _copy(MINILM, tmp_path / "all-MiniLM")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(content)
    with pytest.raises(EmbedderError, match=r"1_Pooling.config\.json cannot be read"):
        identify(parse_model(str(folder)))


def test_a_folder_without_a_model_says_what_it_lacks(tmp_path: Path) -> None:
    """What is missing is named."""
    with pytest.raises(EmbedderError, match=r"lacks model\.onnx, tokenizer\.json, tokenizer_config\.json"):
        open_folder(parse_model(str(tmp_path)))


def test_a_damaged_model_is_an_error_of_ours(tmp_path: Path) -> None:
    """What the runtime raises when opening is told with the folder's name."""
    folder = _copy(MINILM, tmp_path / "all-MiniLM")
    (folder / "model.onnx").unlink()
    (folder / "model.onnx").write_bytes(b"no model")
    with pytest.raises(EmbedderError, match="could not be opened"):
        open_folder(parse_model(str(folder)))


def test_a_pooling_that_does_not_fit_is_an_error_of_ours() -> None:
    """A model that gives a vector a token cannot go without pooling."""
    embedder = open_folder(parse_model(f"{MINILM}?pooling=none"), threads=1)
    with pytest.raises(EmbedderError, match="could not embed"):
        embedder.embed_query("text", 1)


def test_a_folder_that_cannot_be_read_is_an_error_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may not read a file learns which folder it is in."""
    folder = _copy(MINILM, tmp_path / "all-MiniLM")

    def refuse(*_: object) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr("hashlib.file_digest", refuse)
    with pytest.raises(EmbedderError, match=r"all-MiniLM cannot be read \(not yours\)"):
        identify(parse_model(str(folder)))


# Named models, and consent


def _fill_cache(models: Path) -> None:
    """Lay out the files of a real model as if fastembed had fetched bge-small-en-v1.5."""
    repository = models / "models--Qdrant--bge-small-en-v1.5-onnx-Q"
    snapshot = repository / "snapshots" / ("0" * 40)
    snapshot.parent.mkdir(parents=True)
    _copy(MINILM, snapshot)
    (snapshot / "model.onnx").rename(snapshot / "model_optimized.onnx")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0" * 40)


def test_nothing_is_fetched_without_consent(
    tmp_path: Path, no_network: list[object], capfd: pytest.CaptureFixture[str]
) -> None:
    """A model that is not here is described and refused by name, size and licence; nothing connects or prints."""
    card = describe("bge-small-en-v1.5", str(tmp_path))
    assert (card.model, card.megabytes, card.licence, card.dimension, card.is_here) == (
        "fastembed:BAAI/bge-small-en-v1.5",
        67,
        "MIT",
        384,
        False,
    )
    with pytest.raises(EmbedderError) as refused:
        open_fastembed(parse_model("bge-small-en-v1.5"), str(tmp_path))
    assert "67 MB, licence MIT" in str(refused.value)
    assert "recollect embed --model fastembed:BAAI/bge-small-en-v1.5" in str(refused.value)
    assert no_network == []
    assert capfd.readouterr() == ("", "")


def test_a_model_that_is_here_needs_no_network(tmp_path: Path, no_network: list[object]) -> None:
    """What was fetched once is found in the folder for models, and opens without consent and without a network."""
    _fill_cache(tmp_path)
    assert describe("bge-small-en-v1.5", str(tmp_path)).is_here
    embedder = open_fastembed(parse_model("baai/BGE-small-en-v1.5"), str(tmp_path), threads=1)
    assert (embedder.model, embedder.dimension) == ("fastembed:BAAI/bge-small-en-v1.5", 384)
    assert cosine(*[embedder.embed_query(TEXTS[0], 5)] * 2) == about(1.0, 1e-5)
    assert open_fastembed(parse_model(embedder.model), str(tmp_path), allow_download=True).model == embedder.model
    assert no_network == []


def test_a_download_that_fails_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With consent it is fetched; when that fails, the network is what to see to."""
    from fastembed import TextEmbedding

    asked: list[object] = []
    opened = TextEmbedding.__init__

    def fetch(self: TextEmbedding, model_name: str, **options: object) -> None:
        if options["local_files_only"]:
            opened(self, model_name, **options)  # type: ignore[arg-type]
        asked.append((model_name, options["cache_dir"]))
        raise ValueError("Could not load model from any source.")

    monkeypatch.setattr(TextEmbedding, "__init__", fetch)
    with pytest.raises(EmbedderError, match=r"could not be fetched: see to the network .*Could not load model"):
        open_fastembed(parse_model("bge-small-en-v1.5"), str(tmp_path), allow_download=True)
    assert asked == [("BAAI/bge-small-en-v1.5", str(tmp_path))]


def test_the_large_model_is_asked_with_its_prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries to bge-large begin as its authors say; what is kept does not."""
    asked: list[str] = []

    class Large:
        def embed(self, documents: list[str], batch_size: int) -> Iterator[NDArray[np.float32]]:
            asked.extend(documents)
            yield from np.ones((min(len(documents), batch_size), 1024), np.float32)

    monkeypatch.setattr("recollect.embedders.fastembed.open_named", lambda *_: Large())
    embedder = open_fastembed(parse_model("bge-large-en-v1.5"), str(tmp_path))
    embedder.embed_query("when?", 1)
    embedder.embed_documents(["then"])
    assert asked == ["Represent this sentence for searching relevant passages: when?", "then"]


def test_a_name_fastembed_does_not_know_says_what_it_knows(tmp_path: Path) -> None:
    """A wrong name is answered with right ones."""
    with pytest.raises(EmbedderError, match=r"knows no model 'BAAI/bge-huge' .*BAAI/bge-small-en-v1\.5"):
        open_fastembed(parse_model("bge-huge"), str(tmp_path))


def test_a_folder_is_described_as_here(tmp_path: Path) -> None:
    """A folder needs no consent; a hosted model has nothing to fetch."""
    card = describe(str(MINILM), str(tmp_path))
    assert card.is_here
    assert (card.model, card.megabytes) == (str(identify(parse_model(str(MINILM)))), 46)
    with pytest.raises(EmbedderError, match="not a local model"):
        describe("openai:m", str(tmp_path))


def test_models_need_a_folder(tmp_path: Path) -> None:
    """A place where no model can be kept names the variable that sets another."""
    (tmp_path / "file").write_text("")
    with pytest.raises(EmbedderError, match="set RECOLLECT_MODELS"):
        describe("bge-small-en-v1.5", str(tmp_path / "file" / "models"))


@pytest.mark.parametrize("missing", ["fastembed", "loguru"])
def test_without_the_extra_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    """Who lacks fastembed, or a part of it, learns what to install."""
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(EmbedderError, match=r"pip install 'recollect\[local\]'"):
        open_fastembed(parse_model("bge-small-en-v1.5"), str(tmp_path))
    with pytest.raises(EmbedderError, match=r"pip install 'recollect\[local\]'"):
        open_folder(parse_model(str(MINILM)))
