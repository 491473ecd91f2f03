"""Several processes on one file, and processes that die: nothing acknowledged is ever lost."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import recollect

WRITER = Path(__file__).with_name("writer.py")
READER = """
import sys, recollect
with recollect.open(sys.argv[1]) as memory:
    while sys.stdin.readline().strip() == "again":
        answer = memory.recall("what is the harbour of the lantern?")
        print(len(answer.results), *answer.notices, sep="|", flush=True)
"""
WRITERS, EACH, READERS, KILLS = 8, 500, 2, 50


def test_eight_writers_and_two_readers_share_a_file(tmp_path: Path) -> None:
    """Eight processes that write 500 memories each while two read lose none and never see a lock."""
    path = tmp_path / "shared.db"
    with recollect.open(path) as memory:
        memory.set("weight.dense", "0")
    writers = [_start(WRITER, path, f"writer-{number}", EACH) for number in range(WRITERS)]
    readers = [_start_reader(path) for _ in range(READERS)]
    answers: list[str] = []
    try:
        while any(writer.poll() is None for writer in writers):
            answers += [_ask(reader) for reader in readers]
        outputs = [writer.communicate() for writer in writers]
        answers += [_ask(reader) for reader in readers]
    finally:
        for reader in readers:
            reader.communicate()
    assert [writer.returncode for writer in writers] == [0] * WRITERS, [errors for _, errors in outputs]
    assert [errors for _, errors in outputs] == [""] * WRITERS
    assert all(answer.strip().isdigit() for answer in answers), answers
    assert answers[-1].strip() == "10"
    acknowledged = {line.split()[1] for output, _ in outputs for line in output.splitlines() if "remembered" in line}
    with recollect.open(path) as memory:
        kept = {ref.id for ref in memory.store.memories.walk()}
        assert len(acknowledged) == WRITERS * EACH
        assert kept == acknowledged
        assert memory.store.examine(_silently) == []


def test_a_killed_writer_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    """After each of 50 SIGKILLs every acknowledged deed stands, and the doctor finds nothing wrong."""
    path = tmp_path / "killed.db"
    chance = random.Random(50)
    deeds: dict[str, str] = {}
    for number in range(KILLS):
        writer = _start(WRITER, path, f"victim-{number}", 100_000)
        assert writer.stdout is not None
        for _ in range(chance.randrange(1, 40)):
            deed, identity = writer.stdout.readline().split()
            deeds[identity] = deed
        writer.kill()
        rest, _ = writer.communicate()
        # What it had written to the pipe before it died was acknowledged too; a line cut short was not.
        for line in rest.splitlines(keepends=True):
            if line.endswith("\n"):
                deed, identity = line.split()
                deeds[identity] = deed
        _check_deeds(path, deeds)
    doctor = subprocess.run(
        [sys.executable, "-m", "recollect", "doctor"],
        env={**os.environ, "RECOLLECT_STORE": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr


def _check_deeds(path: Path, deeds: dict[str, str]) -> None:
    with recollect.open(path) as memory:
        kept = {ref.id: state for ref, state in memory.store.memories.get(list(memory.store.memories.walk())).items()}
        assert deeds.keys() <= kept.keys()
        for identity, deed in deeds.items():
            if deed == "forgotten":
                assert kept[identity].deleted_at is not None
            else:
                # Whatever was on its way when the kill came may have happened, but nothing before it is undone.
                assert kept[identity].version >= (2 if deed == "edited" else 1)


@pytest.mark.parametrize("ending", ["-wal", "-shm"])
def test_a_store_opens_without_its_side_files(tmp_path: Path, ending: str) -> None:
    """A closed store is whole in its one file."""
    path = tmp_path / "closed.db"
    with recollect.open(path) as memory:
        memory.remember("The backup runs at four in the morning.")
    Path(f"{path}{ending}").unlink(missing_ok=True)
    with recollect.open(path) as memory:
        assert len(memory.recall("backup").results) == 1


def _start(script: Path, path: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(script), str(path), name, str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _start_reader(path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", READER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _ask(reader: subprocess.Popen[str]) -> str:
    assert reader.stdin is not None
    assert reader.stdout is not None
    reader.stdin.write("again\n")
    reader.stdin.flush()
    return reader.stdout.readline()


def _silently(_done: int, _total: int) -> None:
    pass
