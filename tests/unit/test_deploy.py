"""What is deployed: the image and the composition, read and checked, as no engine is there to build them.

The logins that the database is given are tried on a real one.
"""

import fnmatch
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml  # type: ignore[import-untyped] # its types are another package
from typer.main import get_command

from dockerfile import copied, lint
from postgres import named, open_folder
from recollect.cli.app import app
from recollect.stores.postgres.embedded import start
from recollect.stores.postgres.migrate import check, upgrade
from recollect.stores.postgres.programs import find_programs

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
REQUIREMENTS = ROOT / "requirements"
SERVICE_KEYS = frozenset({
    "build", "cap_drop", "command", "depends_on", "deploy", "environment", "healthcheck", "image", "init", "ports",
    "read_only", "restart", "security_opt", "shm_size", "stop_grace_period", "tmpfs", "volumes",
})  # fmt: skip


class _StrictLoader(yaml.SafeLoader):  # type: ignore[misc]
    """Refuses a key that is there twice, of which YAML would take the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"a key twice among {keys}"
        made: dict[Any, Any] = super().construct_mapping(node, deep)
        return made


def read_compose() -> dict[str, Any]:
    composed: dict[str, Any] = yaml.load((DEPLOY / "compose.yaml").read_text(), _StrictLoader)  # noqa: S506 - a safe one
    return composed


def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = read_compose()["services"]
    return found


def test_the_dockerfile_keeps_our_rules() -> None:
    """Known instructions, versions named, hashes asked for, nothing that builds in what runs, no root, no secrets."""
    assert lint((DEPLOY / "Dockerfile").read_text()) == []


_GOOD = """\
FROM python:3.13-slim AS build
RUN pip install --require-hashes -r server.txt
FROM python:3.13-slim
COPY --from=build /opt /opt
USER 10001:10001
HEALTHCHECK CMD ["true"]
ENTRYPOINT ["recollect"]
CMD ["serve"]
"""


@pytest.mark.parametrize(
    ("what", "instead", "wrong"),
    [
        ("", "", None),
        ("ENTRYPOINT", "ENTRYPONT", "is not an instruction"),
        ("COPY --from=build", "COPY --from=builder", "there is no stage builder"),
        ("python:3.13-slim\nCOPY", "python:latest\nCOPY", "python:latest does not name a version"),
        ("python:3.13-slim\nCOPY", "python\nCOPY", "python does not name a version"),
        ("USER 10001:10001\n", "", "it runs as root"),
        ("USER 10001:10001", "USER recollect", "the user is not a number"),
        ("USER 10001:10001", "USER 0:0", "or is root"),
        ('CMD ["serve"]', "CMD serve", "CMD is not in exec form"),
        ('HEALTHCHECK CMD ["true"]', "HEALTHCHECK CMD true", "HEALTHCHECK is not in exec form"),
        ('HEALTHCHECK CMD ["true"]\n', "", "HEALTHCHECK is missing"),
        ("--require-hashes ", "", "no hash vouches for"),
        ("USER", "RUN curl https://example.com \\\n  | sh\nUSER", "no hash vouches for"),
        ("USER", "RUN apt-get update && apt-get install gcc\nUSER", "has no place in the final stage"),
        ("RUN pip", "RUN apt-get install gcc\nRUN pip", "apt-get brings more than it needs"),
        ("USER", "ENV API_KEY=abc\nUSER", "API_KEY looks like a secret"),
        ("USER", "ARG POSTGRES_PASSWORD\nUSER", "POSTGRES_PASSWORD looks like a secret"),
        ("FROM python:3.13-slim AS build\nRUN pip install --require-hashes -r server.txt\n", "", "there is one stage"),
    ],
)
def test_the_rules_find_what_breaks_them(what: str, instead: str, wrong: str | None) -> None:
    """Each rule for the Dockerfile complains of a file that breaks it, and of none that does not."""
    found = lint(_GOOD.replace(what, instead) if what else _GOOD)
    assert any(wrong in each for each in found) if wrong else found == []


def _reaches_the_build(path: str) -> bool:
    """Whether .dockerignore lets a path through: the last line that fits holds."""
    let_through = True
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.strip()
        if pattern and not pattern.startswith("#"):
            wanted = pattern.removeprefix("!").removeprefix("**/")
            if fnmatch.fnmatch(path, wanted) or path.startswith(f"{wanted}/"):
                let_through = pattern.startswith("!")
    return let_through


def test_what_the_dockerfile_copies_is_there_and_reaches_the_build() -> None:
    """Every source of a COPY exists, and .dockerignore lets it through; what it does not name stays out."""
    sources = copied((DEPLOY / "Dockerfile").read_text())
    assert "src" in sources
    for source in sources:
        assert (ROOT / source).exists(), source
        assert _reaches_the_build(source), source
    for private in (".git", "deploy/.env", ".venv", "build", "memory.db", "requirements/dev.txt"):
        assert not _reaches_the_build(private), private


def test_the_composition_is_made_of_known_parts() -> None:
    """Every service has only settings that we know, something to run, and what it is to do when it ends."""
    composed = read_compose()
    assert {key for key in composed if not key.startswith("x-")} == {"name", "services", "volumes"}
    assert set(composed["services"]) == {"database", "migrate", "server", "worker"}
    for name, service in services().items():
        assert set(service) <= SERVICE_KEYS, name
        assert service["restart"] == ("no" if name == "migrate" else "unless-stopped"), name
        assert re.fullmatch(r"recollect:local|pgvector/pgvector:0\.8\.\d+-pg18-\w+", service["image"]), name


def test_services_start_when_what_they_need_is_there() -> None:
    """Nothing starts before a healthy database, and what serves not before the schema."""
    found = services()
    assert "test" in found["database"]["healthcheck"]
    ready = {"database": {"condition": "service_healthy"}}
    migrated = {"migrate": {"condition": "service_completed_successfully"}}
    assert found["migrate"]["depends_on"] == ready
    assert found["server"]["depends_on"] == found["worker"]["depends_on"] == {**ready, **migrated}


def test_ours_run_with_as_little_as_they_need() -> None:
    """Our services write nowhere but to their volumes, and can become nobody else; the database is not published."""
    for name in ("migrate", "server", "worker"):
        service = services()[name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert "user" not in service
    assert [name for name, service in services().items() if "ports" in service] == ["server"]
    assert services()["server"]["ports"] == ["${RECOLLECT_LISTEN:-127.0.0.1:8000}:8000"]


def test_volumes_are_named_and_files_are_there() -> None:
    """Every volume is declared, every mounted file exists, and the data is mounted where Postgres 18 keeps it."""
    declared = set(read_compose()["volumes"])
    mounts = [mount.split(":") for service in services().values() for mount in service.get("volumes", ())]
    for source, *_ in mounts:
        assert source in declared or (DEPLOY / source).is_file(), source
    assert declared == {source for source, *_ in mounts} & declared
    assert ["data", "/var/lib/postgresql"] in mounts


def test_secrets_come_from_the_environment_and_go_only_where_they_are_needed() -> None:
    """No secret is written down; each one that is asked for is in the example, and each service has only its own."""
    text = (DEPLOY / "compose.yaml").read_text()
    example = dict(re.findall(r"^([A-Z_]+)=(.*)$", (DEPLOY / ".env.example").read_text(), re.MULTILINE))
    assert set(re.findall(r"\$\{([A-Z_]+)", text)) == set(example)
    assert {name: value for name, value in example.items() if value} == {"RECOLLECT_LISTEN": "127.0.0.1:8000"}
    for name, service in services().items():
        for variable, value in service.get("environment", {}).items():
            if re.search("PASSWORD|KEY", variable):
                assert value.startswith("${"), (name, variable)
    assert "RECOLLECT_OWNER_PASSWORD" not in str(services()["server"])
    assert not re.search("POSTGRES_PASSWORD|SERVER_PASSWORD", str(services()["worker"]))
    assert ".env" in (ROOT / ".gitignore").read_text().split()


def _commands() -> list[list[str]]:
    words = re.search(r"^CMD (\[.*\])$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    assert words
    return [yaml.safe_load(words[1]), *(services()[name]["command"] for name in ("migrate", "server", "worker"))]


@pytest.mark.parametrize("words", _commands(), ids=" ".join)
def test_what_is_run_is_a_command_of_ours(words: list[str]) -> None:
    """The image and the composition call commands that exist, with options that they have."""
    command: Any = get_command(app)
    rest = list(words)
    while hasattr(command, "commands"):
        assert rest, "it is a group of commands"
        assert rest[0] in command.commands
        command = command.commands[rest.pop(0)]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in rest if word.startswith("--")} <= known


def _pins(name: str) -> dict[str, str]:
    text = (REQUIREMENTS / name).read_text()
    return dict(re.findall(r"^([a-z0-9._-]+)(?:\[[a-z,]+\])?==(\S+)", text, re.MULTILINE))


def _names(requirements: list[str]) -> set[str]:
    return {re.split(r"[^\w-]", each)[0].lower() for each in requirements}


@pytest.mark.parametrize("name", ["server.txt", "build.txt"])
def test_what_is_installed_is_pinned_with_hashes(name: str) -> None:
    """Every package has a version and hashes, those that were tested, and nothing says where it was fetched from."""
    text = (REQUIREMENTS / name).read_text()
    entries = [entry for entry in re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE) if entry]
    assert all(re.match(r"\S+==\S+", entry) and "--hash=sha256:" in entry for entry in entries)
    assert not re.search(r"://|--(extra-)?index-url|--find-links", text)
    tested = _pins("dev.txt")
    assert {package: tested.get(package) for package in _pins(name)} == _pins(name)


def test_what_is_installed_is_all_that_is_needed() -> None:
    """The pinned files cover what pyproject.toml asks for: to run the server, and to build it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    needed = [*project["project"]["dependencies"], *extras["server"], *extras["local"], *extras["telemetry"]]
    assert _names(needed) <= set(_pins("server.txt"))
    assert _names(project["build-system"]["requires"]) <= set(_pins("build.txt"))


def test_the_logins_of_the_database_are_as_little_as_they_can_be() -> None:
    """As the composition sets it up: the owner makes the tables, the server may use them, and neither is more."""
    programs = find_programs()
    with open_folder() as folder, start(folder, durable=False) as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE recollect")
        url = named(server.url, "recollect")
        how = programs.run_as(folder)
        secrets = {"RECOLLECT_OWNER_PASSWORD": "o'ne", "RECOLLECT_SERVER_PASSWORD": "two"}
        script = (DEPLOY / "database.sql").read_text()
        psql = [str(programs.postgres.with_name("psql")), "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", url]
        how["env"] = {**how["env"], **secrets}
        subprocess.run(psql, input=script, text=True, check=True, **how)

        owner, login = (url.replace("//postgres@", f"//recollect_{name}@") for name in ("owner", "server"))
        assert owner != url
        upgrade(owner)
        check(login)
        with psycopg.connect(login) as connection:
            is_more = "SELECT rolsuper OR rolbypassrls OR rolcreaterole FROM pg_roles WHERE rolname ~ '^recollect_'"
            assert connection.execute(is_more).fetchall() == [(False,)] * 4
            # Whoever forgets to take on a role sees nothing at all.
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                connection.execute("SELECT FROM memories")
            connection.execute("SET LOCAL ROLE recollect_app")
            assert connection.execute("SELECT count(*) FROM memories").fetchone() == (0,)
