"""What a folder with a model holds: checked to be whole, told apart from any other by its content.

How a model pools its tokens' vectors into one is not written into model.onnx, and no architecture settles it: it is
what the name says (`?pooling=cls`), else what `1_Pooling/config.json` of sentence-transformers says, else what all
models of the family that the folder is named after do. A `_name_or_path` in config.json is not asked, since it often
names the model that this one was trained from, which may pool otherwise. If none of them knows, the user is asked.
"""

import hashlib
import json
import os
import re
from typing import cast

from recollect.core.errors import EmbedderError
from recollect.embedders.naming import ModelName, Pooling

NEEDED = ("model.onnx", "tokenizer.json", "tokenizer_config.json")
# What the text goes through on its way to a vector; large models keep their weights in model.onnx_data or the like.
_COUNTS = re.compile(r"model\.onnx.*|tokenizer\.json|tokenizer_config\.json|special_tokens_map\.json")
_FAMILIES: tuple[tuple[str, Pooling], ...] = (
    (r"all-minilm|all-mpnet|paraphrase-minilm|paraphrase-multilingual", "mean"),
    (r"bge-(small|base|large|m3)|granite-embedding|snowflake-arctic-embed|mxbai-embed", "cls"),
)
_MODES: tuple[tuple[str, Pooling], ...] = (
    ("pooling_mode_cls_token", "cls"),
    ("pooling_mode_mean_tokens", "mean"),
    ("pooling_mode_lasttoken", "last"),
)


def identify(named: ModelName, *, pools: bool = True) -> ModelName:
    """Complete a folder's name: its whole path, its pooling if it has one to tell, the digest of what it holds."""
    path = os.path.abspath(os.path.expanduser(named.name))
    if missing := [name for name in NEEDED if not os.path.isfile(os.path.join(path, name))]:
        raise EmbedderError(f"{path} is not a folder with a model: it lacks {', '.join(missing)}.")
    known = _known_pooling(path) if pools else None
    pooling = named.pooling or known
    if pools and pooling is None:
        raise EmbedderError(
            f"{path} does not say how its model pools. Add ?pooling=mean or ?pooling=cls to its name, as the "
            "model's own page says, or put its 1_Pooling/config.json there."
        )
    digest = _digest(path, pooling)
    if named.digest not in ("", digest):
        raise EmbedderError(
            f"{path} now holds another model than when it was named: its digest is {digest}, not {named.digest}. "
            "Put the old one back, or name the folder without its digest and embed anew."
        )
    return ModelName("folder", path, pooling=None if pooling == known else pooling, digest=digest)


def pooling_of(named: ModelName) -> Pooling:
    """Give how the model of a completed name pools."""
    return named.pooling or cast("Pooling", _known_pooling(named.name))


def megabytes(path: str) -> int:
    """Say how much the files that count weigh."""
    return round(sum(os.path.getsize(os.path.join(path, name)) for name in _counting(path)) / 1e6)


def _known_pooling(path: str) -> Pooling | None:
    said = os.path.join(path, "1_Pooling", "config.json")
    if os.path.exists(said):
        return _said_pooling(said)
    name = os.path.basename(path).lower()
    return next((pooling for family, pooling in _FAMILIES if re.search(family, name)), None)


def _said_pooling(file: str) -> Pooling | None:
    try:
        with open(file, encoding="utf-8") as opened:
            said = json.load(opened)
        modes = [mode for mode, on in said.items() if mode.startswith("pooling_mode_") and on is True]
    except (OSError, ValueError, AttributeError) as error:
        raise EmbedderError(f"{file} cannot be read ({error}). Add ?pooling=mean or ?pooling=cls instead.") from error
    return dict(_MODES).get(modes[0]) if len(modes) == 1 else None


def _counting(path: str) -> list[str]:
    return sorted(
        name for name in os.listdir(path) if _COUNTS.fullmatch(name) and os.path.isfile(os.path.join(path, name))
    )


def _digest(path: str, pooling: str | None) -> str:
    """Tell models apart by all that shapes their vectors."""
    whole = hashlib.sha256((pooling or "").encode())
    try:
        for name in _counting(path):
            with open(os.path.join(path, name), "rb") as opened:
                # Each file by its own digest, so that no byte can move from one to the next unseen.
                whole.update(f"\n{name} {hashlib.file_digest(opened, 'sha256').hexdigest()}".encode())
    except OSError as error:
        raise EmbedderError(f"{path} cannot be read ({error}): see who may read it.") from error
    return whole.hexdigest()[:12]
