"""Reads a Dockerfile and says what is wrong with it: the rules that ours keeps, for where no engine can build it."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

_KNOWN = frozenset({
    "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL", "RUN", "SHELL", "STOPSIGNAL",
    "USER", "VOLUME", "WORKDIR",
})  # fmt: skip
_TAG = re.compile(r"[a-z0-9./_-]+:(?!latest$)[\w.-]*\d[\w.-]*(@sha256:[0-9a-f]{64})?")
_SECRET = re.compile(r"pass|secret|token|credential|(^|_)key(_|$)", re.IGNORECASE)
_BUILD_TOOLS = re.compile(
    r"\b(apt-get|apt|apk|gcc|g\+\+|make|cmake|cargo|build-essential|curl|wget|git|pip\d? install|uv)\b"
)


@dataclass(frozen=True)
class Instruction:
    name: str
    text: str
    line: int


@dataclass
class Stage:
    image: str
    name: str
    instructions: list[Instruction] = field(default_factory=list)

    def last(self, name: str) -> Instruction | None:
        found = [each for each in self.instructions if each.name == name]
        return found[-1] if found else None


def parse(text: str) -> list[Instruction]:
    """Give the instructions, each on one line, comments gone."""
    instructions = []
    collected = ""
    begun = 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#") or (not line.strip() and not collected):
            continue
        begun = begun or number
        collected += line.strip().removesuffix("\\") + " "
        if not line.rstrip().endswith("\\"):
            name, _, rest = collected.strip().partition(" ")
            instructions.append(Instruction(name, rest.strip(), begun))
            collected, begun = "", 0
    return instructions


def stages(instructions: list[Instruction]) -> list[Stage]:
    found: list[Stage] = []
    for each in instructions:
        if each.name == "FROM":
            image, *alias = each.text.split()
            found.append(Stage(image, alias[1] if len(alias) == 2 else ""))
        elif found:
            found[-1].instructions.append(each)
    return found


def copied(text: str) -> list[str]:
    """Give what is copied from the folder that is built, not from another stage."""
    return [
        source
        for each in parse(text)
        if each.name == "COPY" and "--from=" not in each.text
        for source in each.text.split()[:-1]
    ]


def lint(text: str) -> list[str]:
    """Give what is wrong, line by line."""
    instructions = parse(text)
    return [f"line {line}: {wrong}" for line, wrong in sorted((*_each(instructions), *_whole(stages(instructions))))]


def _each(instructions: list[Instruction]) -> Iterator[tuple[int, str]]:
    for each in instructions:
        if each.name not in _KNOWN:
            yield each.line, f"{each.name} is not an instruction that belongs here"
        if each.name in {"ENV", "ARG"}:
            names = (part.partition("=")[0] for part in shlex.split(each.text))
            yield from ((each.line, f"{name} looks like a secret") for name in names if _SECRET.search(name))
        if each.name in {"CMD", "ENTRYPOINT"} and not _is_exec(each.text):
            yield each.line, f"{each.name} is not in exec form"
        if each.name == "HEALTHCHECK" and not _is_exec(each.text.partition("CMD ")[2]):
            yield each.line, "HEALTHCHECK is not in exec form"
        if each.name == "RUN":
            yield from ((each.line, wrong) for wrong in _run(each.text))


def _run(text: str) -> Iterator[str]:
    if "apt-get install" in text and not ("--no-install-recommends" in text and "rm -rf /var/lib/apt/lists" in text):
        yield "apt-get brings more than it needs, or leaves its lists"
    for command in re.split(r"&&|;|\|\|", text):
        if re.search(r"\bpip\b.* install\b", command) and not re.search(r"--require-hashes|--no-index", command):
            yield "pip installs what no hash vouches for"
        if re.search(r"\b(curl|wget)\b", command):
            yield "something is fetched that no hash vouches for"


def _whole(found: list[Stage]) -> Iterator[tuple[int, str]]:
    if len(found) < 2:
        yield 0, "there is one stage, so what builds stays"
    names = {stage.name for stage in found}
    for stage in found:
        if not _TAG.fullmatch(stage.image) and stage.image not in names:
            yield 0, f"{stage.image} does not name a version"
        for each in stage.instructions:
            source = re.search(r"--from=(\S+)", each.text)
            if each.name == "COPY" and source and source[1] not in names:
                yield each.line, f"there is no stage {source[1]}"
    if found:
        yield from _final(found[-1])


def _final(stage: Stage) -> Iterator[tuple[int, str]]:
    user = stage.last("USER")
    if user is None:
        yield 0, "it runs as root"
    elif not re.fullmatch(r"[1-9]\d*:[1-9]\d*", user.text):
        yield user.line, "the user is not a number, or is root"
    yield from ((0, f"{name} is missing") for name in ("ENTRYPOINT", "CMD", "HEALTHCHECK") if stage.last(name) is None)
    for each in stage.instructions:
        tool = _BUILD_TOOLS.search(each.text) if each.name == "RUN" else None
        if tool:
            yield each.line, f"{tool[1]} has no place in the final stage"


def _is_exec(text: str) -> bool:
    try:
        words = json.loads(text)
    except ValueError:
        return False
    return isinstance(words, list) and bool(words) and all(isinstance(word, str) for word in words)
