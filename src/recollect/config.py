"""Where things are and who is asking: the only reader of the environment.

| variable               | meaning                                              | default        |
|------------------------|------------------------------------------------------|----------------|
| RECOLLECT_HOME         | the folder that holds the store                      | ~/.recollect   |
| RECOLLECT_STORE        | the store's file                                     | HOME/memory.db |
| RECOLLECT_MODELS       | the folder that fetched models are kept in           | HOME/models    |
| RECOLLECT_RERANKER     | the cross-encoder for the setting `rerank`           | none           |
| RECOLLECT_EXTRACTOR    | the language model that may read concepts            | none           |
| RECOLLECT_SPACE        | the space to write to and recall from                | personal       |
| RECOLLECT_PROJECT      | the project to stand in; empty for none              | git, or folder |
| RECOLLECT_DATABASE_URL | the server's Postgres: postgresql://USER@HOST/NAME   |                |
| RECOLLECT_WORKER_DATABASE_URL | the same for workers, past a pooler           | the one above  |
| OTEL_EXPORTER_OTLP_ENDPOINT | where the server's traces go                    | nowhere        |
| OPENAI_API_KEY         | the key for OpenAI, sent to no other server          |                |
| VOYAGE_API_KEY         | the key for Voyage, likewise                         |                |
| COHERE_API_KEY         | the key for Cohere, likewise; also as CO_API_KEY     |                |
| RECOLLECT_EMBEDDER_KEY | the key for an embedding server of one's own address |                |
| RECOLLECT_EXTRACTOR_KEY | the same for a language model's server              |                |

Where clients keep their settings is read too, for `recollect install`: each from the variable that the client itself
reads (CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME, COPILOT_HOME), or from HOME, XDG_CONFIG_HOME and APPDATA.
"""

import os
import sys
from collections.abc import Mapping

from recollect.values import field, value

KEYS = (
    "OPENAI_API_KEY",
    "VOYAGE_API_KEY",
    "COHERE_API_KEY",
    "RECOLLECT_EMBEDDER_KEY",
    "RECOLLECT_EXTRACTOR_KEY",
)


@value
class Config:
    store: str
    space: str
    folder: str
    """Where the caller stands; empty if that folder is gone."""
    project: str | None
    """What overrides the project of that folder; empty means none."""
    models: str = field(default_factory=lambda: _models({}))
    reranker: str = ""
    extractor: str = ""
    """The language model that may read concepts, if one may."""
    # Left out of what a traceback or a log may show: these hold passwords.
    database: str = field(default="", repr=False)
    """The address of the server's Postgres; a laptop has none."""
    worker_database: str = field(default="", repr=False)
    """The address that workers reach it at, if it is another one: a pooler does not pass on what wakes them."""
    postgres: str = field(default_factory=lambda: _postgres({}))
    """The folder of the Postgres that `recollect dev` starts."""
    traces: str = ""
    """The address of a collector of traces; without one there are none."""
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The keys that are set, by their variable."""

    @property
    def journal(self) -> str:
        """Where hooks keep what they gave and learned: beside the store, under its name."""
        return f"{self.store.removesuffix('.db')}.journal.db"

    @property
    def resident(self) -> str:
        """Where a process that has a model loaded listens for hooks."""
        return f"{self.store.removesuffix('.db')}.sock"


def read_config(environment: Mapping[str, str] | None = None) -> Config:
    environment = os.environ if environment is None else environment
    # Clients that set a variable in a file of theirs leave the tilde as it is.
    return Config(
        store=os.path.expanduser(environment.get("RECOLLECT_STORE") or os.path.join(_home(environment), "memory.db")),
        space=environment.get("RECOLLECT_SPACE") or "personal",
        folder=_here(environment),
        project=environment.get("RECOLLECT_PROJECT"),
        models=_models(environment),
        reranker=environment.get("RECOLLECT_RERANKER", ""),
        extractor=environment.get("RECOLLECT_EXTRACTOR", "").strip(),
        database=environment.get("RECOLLECT_DATABASE_URL", "").strip(),
        worker_database=environment.get("RECOLLECT_WORKER_DATABASE_URL", "").strip(),
        postgres=_postgres(environment),
        traces=environment.get("OTEL_EXPORTER_OTLP_ENDPOINT", "").strip(),
        keys=_keys(environment),
    )


def read_folders(environment: Mapping[str, str] | None = None, system: str = sys.platform) -> dict[str, str]:
    """Give where clients keep their settings, and where is noted what was put there, by the names in `installers`."""
    environment = os.environ if environment is None else environment
    home = os.path.expanduser("~")
    settings = environment.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    roaming = environment.get("APPDATA") or os.path.join(home, "AppData", "Roaming")
    applications = {"darwin": os.path.join(home, "Library", "Application Support"), "win32": roaming}
    # On macOS it asks no variable.
    zed = {"darwin": os.path.join(home, ".config", "zed"), "win32": os.path.join(roaming, "Zed")}
    claude = environment.get("CLAUDE_CONFIG_DIR")
    return {
        "home": home,
        "claude": os.path.expanduser(claude or os.path.join("~", ".claude")),
        "claude_state": os.path.expanduser(claude or "~"),
        "codex": os.path.expanduser(environment.get("CODEX_HOME") or os.path.join("~", ".codex")),
        "copilot": os.path.expanduser(environment.get("COPILOT_HOME") or os.path.join("~", ".copilot")),
        "cursor": os.path.join(home, ".cursor"),
        "gemini": os.path.join(os.path.expanduser(environment.get("GEMINI_CLI_HOME") or "~"), ".gemini"),
        "vscode": os.path.join(applications.get(system, settings), "Code", "User"),
        "windsurf": os.path.join(home, ".codeium", "windsurf"),
        "zed": zed.get(system, os.path.join(settings, "zed")),
        "installed": os.path.expanduser(os.path.join(_home(environment), "installed")),
    }


def _home(environment: Mapping[str, str]) -> str:
    return environment.get("RECOLLECT_HOME") or os.path.join("~", ".recollect")


def _models(environment: Mapping[str, str]) -> str:
    return os.path.expanduser(environment.get("RECOLLECT_MODELS") or os.path.join(_home(environment), "models"))


def _postgres(environment: Mapping[str, str]) -> str:
    return os.path.expanduser(os.path.join(_home(environment), "postgres"))


def _keys(environment: Mapping[str, str]) -> dict[str, str]:
    found = {variable: environment.get(variable, "").strip() for variable in KEYS}
    # Cohere's own libraries read the short name.
    found["COHERE_API_KEY"] = found["COHERE_API_KEY"] or environment.get("CO_API_KEY", "").strip()
    return {variable: key for variable, key in found.items() if key}


def _here(environment: Mapping[str, str]) -> str:
    told = environment.get("RECOLLECT_FOLDER", "")
    # A client that has no folder open may leave the name of its variable as it is.
    if told and "${" not in told:
        return told
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""
