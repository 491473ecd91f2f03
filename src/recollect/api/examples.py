"""The world that all examples of the documentation play in, so that they fit each other and can be run.

Ada runs the server and administers the space of her team, `crew`, which Ben writes in too. The team has decided when
it deploys, and has decided otherwise since.
"""

from typing import Any, Final

ADA: Final = "ada"
BEN: Final = "ben"
CARA: Final = "cara"
"""Somebody who is not there yet."""
CREW: Final = "crew"
NIGHT_SHIFT: Final = "night-shift"
"""A space that is not there yet."""
OLD_TEAM: Final = "old-team"
KEY: Final = "k7q2mzwx4t5a"

TUESDAYS: Final = "0192f0c1-7a4e-7c31-8e6f-0c1d2e3f4a5b"
FRIDAYS: Final = "0192e5aa-12c0-7d10-9b3a-55d0f0a1b2c3"
"""What held before."""
PLAN: Final = "0192e5ab-90d4-7001-8a11-6f2e3d4c5b6a"
FORGOTTEN: Final = "0192e5ac-33aa-7b42-b0de-91a2b3c4d5e6"
NEW: Final = "0192f0c4-0d2b-7f60-a5c4-1b2a3c4d5e6f"
SESSION: Final = "2026-05-release"
PROJECT: Final = "github.com/acme/shop"
MODEL: Final = "openai:nomic-embed-text@http://127.0.0.1:11434/v1"
OTHER_MODEL: Final = "openai:all-minilm@http://127.0.0.1:11434/v1"

CONTENT: Final = "Deploys run on Tuesdays; Ana approves them."
MEMORY: Final[dict[str, Any]] = {
    "id": TUESDAYS,
    "space": CREW,
    "content": CONTENT,
    "created_at": "2026-05-12T08:30:00.000000Z",
    "updated_at": "2026-05-12T08:30:00.000000Z",
    "category": "decisions",
    "tags": ["deploy"],
    "keywords": ["release"],
    "importance": 0.8,
    "project": PROJECT,
    "session": SESSION,
    "place": 4,
    "sensitive": False,
    "version": 1,
    "action": "remembered",
    "deleted_at": None,
}
LINK: Final[dict[str, Any]] = {
    "space": CREW,
    "source": TUESDAYS,
    "kind": "supersedes",
    "target": FRIDAYS,
    "created_at": "2026-05-12T08:31:00.000000Z",
    "ended_at": None,
}
