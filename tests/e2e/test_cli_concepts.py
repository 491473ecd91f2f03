"""`concepts`, `graph`, and how an explained recall shows the way that score took."""

import json
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from command_line import CommandLine
from provider_server import Scripted, chat, serve

NASTY = 'Rex\x1b[31m [bold]Nasty[/] \x9b31m \x07 \\N "quoted" & more'


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "home")


@pytest.fixture
def film(cli: CommandLine) -> dict[str, str]:
    """Remember a film, its actor and the actor's town: each shares a name with the next."""
    return {
        "film": cli.keep("My Fair Lady (film)\nA musical with Rex Harrison."),
        "actor": cli.keep("Rex Harrison\nAn English actor, born in Huyton."),
        "town": cli.keep("The football club of Huyton plays at King George."),
    }


def test_a_graph_is_a_tree(cli: CommandLine, film: dict[str, str]) -> None:
    """Under a memory stands what it shares, the rarest first, and under that with whom."""
    assert cli.say("graph", film["actor"][-8:]).splitlines() == [
        f"{film['actor'][-8:]}  Rex Harrison",
        "├─ Huyton",
        f"│  └─ {film['town'][-8:]}  The football club of Huyton plays at King George.",
        "└─ Rex Harrison",
        f"   └─ {film['film'][-8:]}  My Fair Lady (film)",
    ]


def test_a_graph_has_links_and_is_bounded(cli: CommandLine) -> None:
    """Links stand in it by their kind; of many memories under a tie the rest is counted."""
    ids = [cli.keep(f"Zsofia was here, {number}.") for number in range(9)]
    cli.say("link", ids[0], "see-also", ids[1])
    shown = cli.say("graph", ids[0], "--limit", "3").splitlines()
    assert shown[1:3] == ["├─ linked, see also", f"│  └─ {ids[1][-8:]}  Zsofia was here, 1."]
    assert shown[-2:] == [shown[-2], "   └─ and 5 more"]
    assert len(shown) == 3 + 1 + 3 + 1


def test_a_graph_for_other_programs(cli: CommandLine, film: dict[str, str]) -> None:
    """`--json` has every tie by its kind, `--dot` is a graph that Graphviz draws; both at once are refused."""
    assert cli.data("graph", film["actor"]) == {
        "id": film["actor"],
        "heading": "Rex Harrison",
        "branches": [
            {
                "ties": [{"kind": "names", "name": "Huyton"}, {"kind": "terms", "name": "huyton"}],
                "shared_by": 1,
                "memories": [{"id": film["town"], "heading": "The football club of Huyton plays at King George."}],
            },
            {
                "ties": [
                    {"kind": "names", "name": "Rex Harrison"},
                    {"kind": "terms", "name": "harrison"},
                    {"kind": "terms", "name": "rex"},
                ],
                "shared_by": 1,
                "memories": [{"id": film["film"], "heading": "My Fair Lady (film)"}],
            },
        ],
        "further": 0,
    }
    dot = cli.say("graph", film["actor"], "--dot")
    assert dot.startswith("graph recollect {\n")
    assert dot.endswith("}\n")
    assert f'"{film["actor"]}" -- tie0;' in dot
    assert f'tie0 -- "{film["town"]}";' in dot
    assert 'tie1 [label="Rex Harrison", shape=plain];' in dot
    cli.run("graph", film["actor"], "--dot", "--json", code=2)


def test_nothing_in_a_memory_breaks_out_of_a_graph(cli: CommandLine) -> None:
    """Control characters reach no terminal, and quotes, backslashes and entities end no label of Graphviz'."""
    one, other = cli.keep(NASTY, "-t", 'a"b\\'), cli.keep(NASTY + " too", "-t", 'a"b\\')
    for options in ((), ("--dot",), ("--json",)):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", cli.say("graph", one, *options))
    dot = cli.say("graph", one, "--dot")
    labels = re.findall(r'label="((?:[^"\\]|\\.)*)"', dot)
    assert len(labels) == dot.count("label=")
    assert any(r"a\"b\\" in label for label in labels)
    assert any(r"\\N \"quoted\" &amp; more" in label for label in labels)
    assert other[-8:] in cli.say("graph", one)
    for columns in (40, 80):
        shown = cli.as_in_terminal("graph", one, columns=columns)
        assert max(cell_len(line) for line in shown.splitlines()) <= columns


def test_a_memory_without_ties(cli: CommandLine) -> None:
    """One that shares nothing, and one that is sensitive, say so; no other leads to the sensitive one."""
    lone = cli.keep("Zsofia has the key.")
    secret = cli.keep("The key of Zsofia is hunter2.", "--sensitive")
    cli.say("link", lone, "see-also", secret)
    assert "Nothing ties it to others: no link" in cli.say("graph", lone)
    shown = cli.say("graph", secret)
    assert shown == f"{secret[-8:]}  sensitive\nNothing ties it to others: what is sensitive is read by nobody.\n"
    assert cli.data("graph", secret) == {"id": secret, "heading": None, "branches": [], "further": 0}
    cli.run("concepts", "show", "hunter2", code=3)
    assert "no memory" in cli.run("graph", "ffffffff", code=3).stderr


def test_concepts_are_listed(cli: CommandLine, film: dict[str, str]) -> None:
    """`concepts` reads what waits, says who reads, and lists what most memories share."""
    assert cli.say("concepts").splitlines() == [
        "rules 1  nothing waits",
        "",
        f"  Huyton        2  {'▪' * 24}",
        f"  Rex Harrison  2  {'▪' * 24}",
    ]
    data = cli.data("concepts", "list")
    assert data["extractors"] == [
        {"name": "rules 1", "calls": 0, "tokens": 0, "most_calls": None, "most_tokens": None, "waiting": 0}
    ]
    assert data["concepts"] == [
        {"name": "Huyton", "memories": 2, "too_common": False},
        {"name": "Rex Harrison", "memories": 2, "too_common": False},
    ]
    assert len(cli.data("concepts", "--limit", "1")["concepts"]) == 1
    cli.say("forget", film["town"])
    assert [each["name"] for each in cli.data("concepts")["concepts"]] == ["Rex Harrison"]


def test_what_too_many_share_is_said_to_tell_nothing(cli: CommandLine) -> None:
    """A concept that carries no score is marked."""
    for number in range(11):
        cli.keep(f"We met Zsofia, {number} times.")
    assert "Zsofia  11  too common to tell anything" in cli.say("concepts")
    assert cli.data("concepts")["concepts"][0]["too_common"] is True


def test_no_concepts_yet(cli: CommandLine) -> None:
    """An empty store is no error."""
    assert cli.say("concepts") == "rules 1  nothing waits\n\nNo two memories mention the same yet.\n"


def test_a_concept_is_shown(cli: CommandLine, film: dict[str, str], tmp_path: Path) -> None:
    """By any of its names: what else it is called, what is said of it and by whom, and where it is mentioned."""
    tagged = cli.keep("a note", "-t", "rex harrison")
    triple = {"memory": film["actor"], "subject": "Rex Harrison", "relation": "born in", "object": "Huyton"}
    file = tmp_path / "triples.jsonl"
    file.write_text(json.dumps(triple) + "\n", encoding="utf-8")
    assert cli.say("concepts", "import", str(file)) == "Took in 1 triple of 1 memory.\n"
    cli.say("concepts", "alias", "rex harrison", "Sexy Rexy")
    shown = cli.say("concepts", "show", "REX  HARRISON").splitlines()
    assert shown[:4] == ["Rex Harrison", "also called sexy rexy", "", "  Rex Harrison  born in  Huyton"]
    assert re.fullmatch(rf"    since \S+ \S+ UTC · {film['actor'][-8:]}", shown[4])
    assert shown[5:] == [
        "",
        "mentioned by 3 memories",
        f"  {tagged[-8:]}  a note  as tag",
        f"  {film['actor'][-8:]}  Rex Harrison",
        f"  {film['film'][-8:]}  My Fair Lady (film)",
    ]
    data = cli.data("concepts", "show", "sexy rexy", "--limit", "1")
    assert (data["name"], data["aliases"], data["mentioned_by"]) == ("Rex Harrison", ["sexy rexy"], 3)
    assert data["memories"] == [{"id": tagged, "heading": "a note", "kinds": ["tag"]}]
    (said,) = data["relations"]
    assert (said["source"], said["relation"], said["target"]) == ("Rex Harrison", "born in", "Huyton")
    assert (said["until"], said["evidence"]) == (None, [film["actor"]])
    cli.say("edit", film["actor"], "--content", "An actor.")
    assert "until" in cli.say("concepts", "show", "Huyton")
    assert "1 more: --limit 2 shows them." in cli.say("concepts", "show", "rex harrison", "-n", "1")
    assert "no concept 'nobody'" in cli.run("concepts", "show", "nobody", code=3).stderr


def test_an_alias_makes_one_of_two(cli: CommandLine) -> None:
    """A new name is given at once; one that is a concept already only after a question, for it cannot be taken back."""
    cli.keep("We met Ana there.")
    cli.keep("We met Ana Souza there.")
    assert cli.say("concepts", "alias", "ana", "Annie") == "Ana is also called annie.\n"
    refused = cli.run("concepts", "alias", "Ana Souza", "Ana", stdin="n\n", code=1)
    assert "1 memory mentions 'Ana'" in refused.stderr
    assert "Nothing was changed." in refused.stderr
    assert cli.data("concepts", "show", "Ana Souza")["mentioned_by"] == 1
    assert cli.data("concepts", "alias", "Ana Souza", "Ana", "--yes") == {
        "name": "Ana Souza",
        "aliases": ["ana", "annie"],
    }
    assert cli.data("concepts", "show", "ana")["mentioned_by"] == 2
    cli.keep("Then Annie left.")
    assert cli.data("concepts", "show", "ana souza")["mentioned_by"] == 3
    cli.run("concepts", "alias", "nobody", "x", code=3)
    cli.run("concepts", "alias", "ana", " ", code=2)


def test_an_import_of_triples_tells_what_it_could_not_take(cli: CommandLine, film: dict[str, str]) -> None:
    """Lines that cannot be taken in are named, the others are taken, and the exit code is 1."""
    good = {"memory": film["actor"], "subject": "Rex Harrison", "relation": "born in", "object": "Huyton"}
    lines = [json.dumps(good), "nonsense", json.dumps({**good, "memory": "01900000-0000-7000-8000-00000000abcd"})]
    result = cli.run("concepts", "import", "-", "--name", "mine", stdin="\n".join(lines), code=1)
    assert result.stdout == "Took in 1 triple of 1 memory.\n"
    assert [line.partition(":")[0] for line in result.stderr.splitlines()] == ["line 2", "line 3"]
    assert {each["name"] for each in cli.data("concepts")["extractors"]} == {"rules 1", "mine"}
    cli.run("concepts", "import", str(cli.home / "none.jsonl"), code=2)
    cli.run("concepts", "import", "-", "--name", "rules 1", stdin="", code=2)


def test_an_explained_recall_shows_the_way(cli: CommandLine, film: dict[str, str]) -> None:
    """A memory that no leg found is said to be, with what brought it and from which memory, in words and as data."""
    shown = cli.say("recall", "musical with Rex Harrison", "--explain")
    assert "context, rerank: off" in shown
    rows = [line.strip() for line in shown.split("The football club of Huyton")[-1].splitlines()]
    assert next(row.split(maxsplit=3)[3] for row in rows if row.startswith("legs ")) == "found by no leg"
    assert next(row.split(maxsplit=3)[3] for row in rows if row.startswith("spread ")) == (
        f"by 'Huyton' from {film['actor'][-8:]}  Rex Harrison"
    )
    assert not any(row.startswith(("fusion", "lexical")) for row in rows)
    assert "score flows from it" in shown
    results = cli.data("recall", "musical with Rex Harrison", "--explain")["results"]
    (explained,) = next(each for each in results if each["id"] == film["town"])["explain"]
    assert [(way["id"], way["heading"], way["kind"], way["name"]) for way in explained["ways"]] == [
        (film["actor"], "Rex Harrison", "names", "Huyton"),
        (film["actor"], "Rex Harrison", "terms", "huyton"),
    ]
    assert all(0 < way["amount"] < 1 for way in explained["ways"])
    note = next(step["note"] for step in explained["steps"] if step["stage"] == "spread")
    assert note == f"found by no leg; came by 'Huyton' from {film['actor'][-8:]}"
    assert f"it came by 'Huyton' from {film['actor'][-8:]}" in cli.say(
        "why-not", film["town"], "musical with Rex Harrison"
    )


def test_spread_is_a_setting(cli: CommandLine, film: dict[str, str]) -> None:
    """`config` lists it, and at 0 the stage is off and brings nothing."""
    assert "score flows" in cli.say("config")
    cli.say("config", "spread", "0")
    shown = cli.say("recall", "musical", "--explain")
    assert "context, spread, rerank: off" in shown
    assert film["actor"][-8:] not in shown


def test_a_recall_reads_what_was_just_remembered(cli: CommandLine) -> None:
    """Nothing needs to be started for concepts: the recall after a change reads what waits."""
    cli.keep("The vault is in Huyton.")
    cli.say("recall", "vault")
    cli.keep("In Huyton it rains.")
    cli.say("recall", "vault")
    cli.say("why-not", cli.keep("Huyton again."), "vault")
    assert cli.data("concepts")["extractors"][0]["waiting"] == 0


def test_a_language_model_must_be_named_and_limited(cli: CommandLine) -> None:
    """Without a model, or without a limit, nothing is sent, and the refusal says what to set."""
    cli.keep("note")
    assert "RECOLLECT_EXTRACTOR" in cli.run("concepts", "extract", "--calls", "1", "--tokens", "1", code=2).stderr
    settings = {"RECOLLECT_EXTRACTOR": "openai:toy@http://127.0.0.1:9/v1"}
    assert "--calls and --tokens" in cli.run("concepts", "extract", "--calls", "1", settings=settings, code=2).stderr


def test_a_language_model_reads_within_its_budget(cli: CommandLine) -> None:
    """What it may use is set, shown and kept to; what it could not read and that its budget is spent is said."""
    for number in range(20):
        cli.keep(f"Person{number} lives in Rome.")
    secret = cli.keep("Person99 has the password hunter2.", "--sensitive")
    with serve() as provider:
        settings = {"RECOLLECT_EXTRACTOR": f"openai:toy@{provider.address}/openai/v1"}
        first = cli.run("concepts", "extract", "--calls", "2", "--tokens", "1000000", settings=settings, code=1)
        assert re.search(r"openai:toy\S*\s+4 memories wait · 2 of 2 calls · [\d,]+ of 1,000,000 tokens", first.stdout)
        assert "--calls N --tokens N` lets a language model use more" in first.stdout
        assert "may not ask" in first.stderr
        second = cli.run("concepts", "extract", "--calls", "9", "--json", settings=settings)
        data = json.loads(second.stdout)
        assert (data["read"], data["unread"]) == (4, 0)
        assert (data["extractor"]["waiting"], data["extractor"]["calls"]) == (0, 3)
        assert (data["extractor"]["most_calls"], data["extractor"]["most_tokens"]) == (9, 1_000_000)
        assert b"hunter2" not in provider.received
        cli.keep("Person20 lives in Rome.")
        provider.answer_next(*[Scripted(200, json.dumps(chat("no notes at all")).encode())] * 2)
        third = cli.run("concepts", "extract", settings=settings, code=1)
        assert "was not read: " in third.stderr
    assert cli.data("concepts", "show", "Rome")["mentioned_by"] == 21
    assert secret[-8:] not in cli.say("concepts", "show", "Rome")
    assert "hunter2" not in str(cli.data("concepts"))


def test_text_leaves_only_with_consent(cli: CommandLine) -> None:
    """Before a model that is served elsewhere reads for the first time, the person is told where the text goes."""
    cli.keep("note")
    settings = {"RECOLLECT_EXTRACTOR": "openai:toy@https://models.example/v1"}
    asked = ("concepts", "extract", "--calls", "1", "--tokens", "1")
    refused = cli.run(*asked, settings=settings, stdin="n\n", code=1).stderr
    assert "sensitive ones excepted, will be sent to models.example. Go on? [y/N]" in refused
    assert "Nothing was sent" in refused
    assert cli.run(*asked, "--yes", settings=settings, code=1).stdout.count("0 of 1 calls") == 1
