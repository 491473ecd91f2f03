"""An embedding model that takes no time: speaks as OpenAI does, and answers with vectors that are known or made up.

    python benchmarks/embedding_server.py PORT DIMENSION [VECTORS]

VECTORS is a file that `recollect bench` keeps a model's vectors in. What is not in it gets a direction that depends on
the text alone. So a benchmark of the server measures the server.
"""

import hashlib
import json
import sqlite3
import sys
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

from pg_vectors import Halves
from recollect.bench.cache import key_of


class Vectors:
    def __init__(self, dimension: int, path: Path | None) -> None:
        self._dimension = dimension
        self._known = None
        if path is not None:
            self._known = sqlite3.connect(f"file:{path}?mode=ro", uri=True, check_same_thread=False)

    def of(self, text: str) -> Halves:
        return self.find(text) if self._known else self.make_up(text)

    def find(self, text: str) -> Halves:
        assert self._known is not None
        for kind in ("document", "query"):
            row = self._known.execute("SELECT vector FROM vectors WHERE key = ?", (key_of(kind, text),)).fetchone()
            if row is not None and len(row[0]) == 2 * self._dimension:
                return np.frombuffer(row[0], dtype="<f2").astype(np.float16)
        return self.make_up(text)

    def make_up(self, text: str) -> Halves:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
        drawn = np.random.default_rng(seed).standard_normal(self._dimension)
        return (drawn / np.linalg.norm(drawn)).astype(np.float16)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    vectors: Vectors

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        rows = [
            {"index": index, "embedding": self.vectors.of(text).tolist()} for index, text in enumerate(asked["input"])
        ]
        body = json.dumps({"data": rows}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        # Who did not wait for the answer is not told.
        with suppress(ConnectionError):
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main(port: int, dimension: int, path: Path | None = None) -> None:
    Handler.vectors = Vectors(dimension, path)
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *map(Path, sys.argv[3:4]))
