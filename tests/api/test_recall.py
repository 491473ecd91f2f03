"""`/v1/recall`, `/v1/why-not` and `/v1/links`: found by words and connection, and explained."""

from datetime import UTC, datetime
from typing import Any

import pytest

from recollect.api import examples
from serving import Client, populate_memories


@pytest.fixture
def crew(ada: Client) -> Client:
    populate_memories(ada)
    return ada


def test_an_answer_has_all_that_links_bring(crew: Client) -> None:
    """The newer memory is served in place of the old, with its pointers, what was left out, and its size."""
    body = {"query": "deploys fridays", "spaces": [examples.CREW], "limit": 1}
    answer = crew.ok("POST", "/v1/recall", json=body)
    (result,) = answer["results"]
    assert (result["id"], result["rank"], result["instead_of"]) == (examples.TUESDAYS, 1, [examples.FRIDAYS])
    assert result["pointers"] == [
        {"how": "part-of", "id": examples.PLAN, "space": examples.CREW, "heading": "The release plan."}
    ]
    assert answer["left_out"] == {"over the limit": 1}
    assert answer["tokens"] > 0
    assert "stages" not in answer


def test_an_explanation_follows_every_stage(crew: Client) -> None:
    """With `explain` every result has its way through the legs and stages, and what each term added."""
    body = {"query": "deploys fridays", "spaces": [examples.CREW], "explain": True, "limit": 1}
    answer = crew.ok("POST", "/v1/recall", json=body)
    assert [stage["stage"] for stage in answer["stages"]][:2] == ["legs", "context"]
    assert answer["left_out_ids"] == [{"id": examples.PLAN, "space": examples.CREW, "why": "over the limit"}]
    own, replaced = answer["results"][0]["explain"]
    assert (own["id"], replaced["id"]) == (examples.TUESDAYS, examples.FRIDAYS)
    assert {step["stage"] for step in own["steps"]} >= {"lexical", "fusion", "prior", "links", "pack"}
    assert {part["term"] for part in replaced["evidence"]["lexical"]["parts"]} == {"deploy", "friday"}


def test_an_explanation_shows_the_way_of_what_no_leg_found(ada: Client) -> None:
    """What shares a rare word with the best comes along, and it is told by what, and from which memory."""
    source = ada.keep("The quokka cron job is run by Zsofia.")
    target = ada.keep("Zsofia is away until May.")
    asked = {"query": "quokka cron"}
    results = ada.ok("POST", "/v1/recall", json={**asked, "explain": True})["results"]
    assert [result["id"] for result in results] == [source, target]
    (explained,) = results[1]["explain"]
    assert [(way["id"], way["space"], way["heading"]) for way in explained["ways"]] == [
        (source, examples.ADA, "The quokka cron job is run by Zsofia.")
    ]
    assert explained["ways"][0]["kind"] == "terms"
    assert explained["ways"][0]["name"] == "zsofia"
    assert 0 < explained["ways"][0]["amount"] <= 1
    note = next(step["note"] for step in explained["steps"] if step["stage"] == "spread")
    assert note == f"found by no leg; came by 'zsofia' from {source[-8:]}"
    why = ada.ok("POST", "/v1/why-not", json={**asked, "id": target})
    assert why["found"]
    assert f"it came by 'zsofia' from {source[-8:]}" in why["reason"]


def test_no_way_leads_to_a_sensitive_memory(ada: Client) -> None:
    """Neither a word nor a link brings one that is sensitive, and nothing of what it shares is told."""
    source = ada.keep("The quokka cron job is run by Zsofia.")
    hidden = ada.keep("Zsofia has the password.", sensitive=True)
    ada.ok("POST", "/v1/links", json={"source": source, "kind": "see-also", "target": hidden})
    asked = {"query": "quokka cron"}
    (only,) = ada.ok("POST", "/v1/recall", json={**asked, "explain": True})["results"]
    assert (only["id"], only["explain"][0]["ways"]) == (source, [])
    assert ada.ok("POST", "/v1/why-not", json={**asked, "id": hidden})["reason"] == "No leg brought it."


def test_a_question_narrows(crew: Client) -> None:
    """Scope, time, order, budget and what is excluded all reach the recall."""
    crew.keep("Deploys of the blog run whenever.", project="blog")
    asked: dict[str, Any] = {"query": "deploys", "spaces": [examples.ADA, examples.CREW]}
    everywhere = {found["id"] for found in crew.recall(**asked)}
    assert len(everywhere) == 3
    assert {found["space"] for found in crew.recall(**asked)} == {examples.ADA, examples.CREW}
    assert len(crew.recall(**asked, project="blog")) == 1
    assert [found["id"] for found in crew.recall(**asked, sessions=[examples.SESSION])] == [examples.TUESDAYS]
    assert crew.recall(**asked, before=4) == []
    assert len(crew.recall(**asked, categories=["decisions"])) == 2
    assert len(crew.recall(**asked, exclude=[examples.TUESDAYS])) == 2
    assert crew.recall(**asked, as_of="2020-01-01T00:00:00Z") == []
    assert len(crew.recall(**asked, as_of=datetime.now(UTC).isoformat())) == 3
    assert len(crew.recall(**asked, budget=11)) == 1
    times = [found["created_at"] for found in crew.recall(**asked, sort="recency")]
    assert times == sorted(times, reverse=True)


@pytest.mark.parametrize(
    "more",
    [
        {"query": " "},
        {"query": ""},
        {"limit": 0},
        {"limit": 10_000},
        {"sort": "best"},
        {"as_of": "last week"},
        {"as_of": "0001-01-01T00:00:00+14:00"},
        {"budget": 0},
        {"exclude": ["12345678"]},
        {"before": -1},
        {"spaces": "crew"},
        {"spaces": ["No Such Name"]},
        {"sessions": ["a\0b"]},
        {"spacs": ["crew"]},
    ],
)
def test_what_cannot_be_asked_is_refused(ada: Client, more: dict[str, object]) -> None:
    """A question that is not as documented, or that has no answer, is refused with a reason."""
    assert ada.refused("POST", "/v1/recall", 422, json={"query": "deploys", **more})["detail"]


def test_why_not_names_the_stage(crew: Client) -> None:
    """Each way for a memory to be missing from an answer has its own reason."""
    asked = {"query": "deploys", "spaces": [examples.CREW]}
    outdated = crew.ok("POST", "/v1/why-not", json={**asked, "id": examples.FRIDAYS})
    assert (outdated["stage"], outdated["found"]) == ("links", False)
    assert examples.TUESDAYS in outdated["reason"]
    found = crew.ok("POST", "/v1/why-not", json={**asked, "id": examples.TUESDAYS[-8:]})
    assert (found["found"], found["rank"]) == (True, 1)
    forgotten = crew.ok("POST", "/v1/why-not", json={**asked, "id": examples.FORGOTTEN})
    assert forgotten["stage"] == "scope"
    crew.refused("POST", "/v1/why-not", 404, json={**asked, "id": examples.NEW})


def test_links_are_made_listed_and_ended(ada: Client) -> None:
    """Linking again changes nothing, both ends list the link, and an ended one is seen only by who looks back."""
    old, new = ada.keep("Deploys run on Fridays."), ada.keep("Deploys run on Tuesdays.")
    link = {"source": new, "kind": "supersedes", "target": old}
    made = ada.ok("POST", "/v1/links", json=link)
    assert ada.ok("POST", "/v1/links", json=link) == made
    for end in (old, new):
        assert ada.ok("GET", "/v1/links", params={"memory": end})["links"] == [made]
    meanwhile = datetime.now(UTC).isoformat()
    ended = ada.ok("DELETE", "/v1/links", params=link)
    assert ended["ended_at"]
    assert ada.ok("GET", "/v1/links", params={"memory": old})["links"] == []
    then = ada.ok("GET", "/v1/links", params={"memory": old, "as_of": meanwhile})["links"]
    assert [(each["source"], each["target"]) for each in then] == [(new, old)]
    ada.refused("DELETE", "/v1/links", 404, params=link)
    ada.refused("POST", "/v1/links", 422, json={**link, "kind": "likes"})
    ada.refused("POST", "/v1/links", 422, json={**link, "target": new})
    ada.refused("POST", "/v1/links", 404, json={**link, "target": examples.NEW})
