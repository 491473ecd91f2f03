"""Cross-encoders: a stub of a model that the test writes itself, which counts a word in the text it is shown."""

import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from making import models_folder
from recollect.core.errors import EmbedderError
from recollect.embedders.cross_encoder import (
    BATCH,
    DEFAULT_MODEL,
    CrossEncoder,
    LazyCrossEncoder,
    describe_cross_encoder,
    open_cross_encoder,
)

MINILM = models_folder() / "all-MiniLM-L6-v2"
TUESDAY = 9857
"""The id of the word in the tokenizer of all-MiniLM-L6-v2."""
INT64, FLOAT = 7, 1


# Just enough of the wire format of protobuf to write a model down: a number, or a length and its octets, by field.


def _varint(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    octets = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(octets)) + octets


def _message(*fields: tuple[int, int | str | bytes]) -> bytes:
    return b"".join(_field(number, value) for number, value in fields)


def _node(kind: str, inputs: Iterable[str], output: str, *attributes: bytes) -> bytes:
    names = [(1, name) for name in inputs]
    return _message(*names, (2, output), (3, output), (4, kind), *[(5, attribute) for attribute in attributes])


def _number(name: str, value: int) -> bytes:
    return _message((1, name), (3, value), (20, 2))


def _numbers(name: str, value: int) -> bytes:
    return _message((1, name), (8, value), (20, 7))


def _tensor(name: str, kind: int, *axes: str | int) -> bytes:
    dimensions = [(1, _message((1 if isinstance(axis, int) else 2, axis))) for axis in axes]
    return _message((1, name), (2, _message((1, _message((1, kind), (2, _message(*dimensions)))))))


def _count_word(word: int) -> bytes:
    """Write a model that says how often a token is in the second text of a pair, padding left out."""
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    nodes = [
        _node("Equal", ["input_ids", "word"], "is_word"),
        _node("Cast", ["is_word"], "found", _number("to", INT64)),
        _node("Mul", ["found", "token_type_ids"], "found_in_text"),
        _node("Mul", ["found_in_text", "attention_mask"], "counted"),
        _node("ReduceSum", ["counted"], "sum", _numbers("axes", 1), _number("keepdims", 1)),
        _node("Cast", ["sum"], "logits", _number("to", FLOAT)),
    ]
    constant = _message((1, 1), (2, INT64), (7, _varint(word)), (8, "word"))
    graph = _message(
        *[(1, node) for node in nodes],
        (2, "count a word"),
        (5, constant),
        *[(11, _tensor(name, INT64, "batch", "length")) for name in inputs],
        (12, _tensor("logits", FLOAT, "batch", 1)),
    )
    return _message((1, 7), (7, graph), (8, _message((1, ""), (2, 11))))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "counter"
    folder.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "config.json"):
        shutil.copyfile(MINILM / name, folder / name)
    (folder / "model.onnx").write_bytes(_count_word(TUESDAY))
    return folder


def test_each_text_is_scored_with_the_query_in_order(folder: Path, tmp_path: Path) -> None:
    """Scores stand in the order of the texts over several batches, and what the query says is not the text's."""
    encoder = open_cross_encoder(str(folder), str(tmp_path), threads=1)
    texts = [f"Number {number}: {'Tuesday, ' * (number % 5)}then." for number in range(2 * BATCH + 1)]
    assert encoder.score("Is it Tuesday on Tuesday?", texts) == [float(number % 5) for number in range(2 * BATCH + 1)]
    assert encoder.score("Tuesday", []) == []


def test_a_folders_name_is_its_content(folder: Path, tmp_path: Path) -> None:
    """The name opens the same cross-encoder again, and no other that came into its place."""
    encoder = open_cross_encoder(str(folder), str(tmp_path))
    again = open_cross_encoder(encoder.name, str(tmp_path))
    assert again.name == encoder.name == describe_cross_encoder(str(folder), str(tmp_path)).model
    assert again.score("", ["On Tuesday."]) == [1.0]
    (folder / "model.onnx").write_bytes(_count_word(TUESDAY + 1))
    other = open_cross_encoder(str(folder), str(tmp_path))
    assert other.name != encoder.name
    assert other.score("", ["On Tuesday."]) == [0.0]
    with pytest.raises(EmbedderError, match="now holds another model"):
        open_cross_encoder(encoder.name, str(tmp_path))


def test_a_lazy_one_opens_when_it_is_asked(folder: Path, tmp_path: Path) -> None:
    """Naming a cross-encoder costs nothing until it scores; it is then opened once, or the error says what is wrong."""
    lazy = LazyCrossEncoder(str(folder), str(tmp_path))
    assert lazy.score("When?", ["Monday", "Tuesday"]) == [0.0, 1.0]
    (folder / "model.onnx").unlink()
    assert lazy.score("When?", ["Tuesday"]) == [1.0]
    with pytest.raises(EmbedderError, match=r"lacks model\.onnx"):
        LazyCrossEncoder(str(folder), str(tmp_path)).score("When?", ["Tuesday"])


def test_nothing_is_fetched_without_consent(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A named cross-encoder that is not here is refused with its size and licence."""
    card = describe_cross_encoder(DEFAULT_MODEL, str(tmp_path))
    assert (card.model, card.megabytes, card.licence, card.is_here) == (
        f"fastembed:{DEFAULT_MODEL}",
        80,
        "Apache-2.0",
        False,
    )
    with pytest.raises(EmbedderError, match=r"80 MB, licence Apache-2\.0\) is not on this machine"):
        open_cross_encoder(DEFAULT_MODEL, str(tmp_path))
    assert capfd.readouterr() == ("", "")


def test_one_that_is_here_opens_without_a_network(folder: Path, tmp_path: Path) -> None:
    """What was fetched once is found in the folder for models."""
    repository = tmp_path / "models" / f"models--{DEFAULT_MODEL.replace('/', '--')}"
    snapshot = repository / "snapshots" / ("0" * 40)
    shutil.copytree(folder, snapshot)
    (snapshot / "onnx").mkdir()
    (snapshot / "model.onnx").rename(snapshot / "onnx" / "model.onnx")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0" * 40)
    encoder = open_cross_encoder(DEFAULT_MODEL, str(tmp_path / "models"))
    assert encoder.name == f"fastembed:{DEFAULT_MODEL}"
    assert encoder.score("When?", ["Monday", "Tuesday"]) == [0.0, 1.0]


def test_what_is_no_cross_encoder_is_an_error(folder: Path, tmp_path: Path) -> None:
    """A damaged model does not open, a hosted one is none, and a name that fastembed lacks is told."""
    (folder / "model.onnx").write_bytes(b"no model")
    with pytest.raises(EmbedderError, match="could not be opened"):
        open_cross_encoder(str(folder), str(tmp_path))
    for name in ("openai:m", "BAAI/bge-small-en-v1.5"):
        with pytest.raises(EmbedderError, match="knows no model"):
            open_cross_encoder(name, str(tmp_path))


class Fake:
    def __init__(self, scores: list[float] | None) -> None:
        self.scores = scores

    def rerank(self, query: str, documents: list[str], batch_size: int) -> Iterable[float]:
        if self.scores is None:
            raise RuntimeError(f"{query} {documents} {batch_size}")
        return self.scores


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        ([1.0], "one number a text"),
        ([1.0, float("nan")], "one number a text"),
        ([1.0, float("inf")], "one number a text"),
        (None, "could not score"),
    ],
)
def test_scores_that_are_none_are_an_error(scores: list[float] | None, says: str) -> None:
    """Too few scores, what is no number, and whatever the runtime raises end in an error of ours."""
    with pytest.raises(EmbedderError, match=says):
        CrossEncoder("m", Fake(scores)).score("query", ["one", "two"])
