"""`/v1/settings` and `/v1/vector-sets`: how recalls weigh what they find, and what they find with."""

from typing import Any

import pytest

from recollect.api import examples
from recollect.core.settings import CONSTANTS, SETTINGS
from recollect.service.embed import build
from serving import Client, World, in_process, with_toys


def test_every_setting_is_listed_with_its_default(ben: Client) -> None:
    """Anybody with a key reads the server's settings; the constants are none of them."""
    shown = ben.ok("GET", "/v1/settings")
    assert shown["space"] is None
    assert shown["settings"].keys() == SETTINGS.keys()
    assert not shown["settings"].keys() & CONSTANTS.keys()
    assert shown["settings"]["weight.lexical"] == {
        "value": SETTINGS["weight.lexical"].default,
        "default": SETTINGS["weight.lexical"].default,
        "about": SETTINGS["weight.lexical"].about,
        "least": 0,
        "most": 5,
        "choices": None,
    }
    assert shown["settings"]["fusion"]["choices"] == ["convex", "reciprocal-rank"]


def test_a_space_may_have_its_own(ada: Client, ben: Client) -> None:
    """The server's settings hold where a space has none of its own, and a null goes back to them."""
    for word in ("Tuesdays", "Fridays", "Mondays"):
        ada.keep(f"Deploys run on {word}.", space=examples.CREW)
        ben.keep(f"Deploys run on {word}.")
    in_crew: dict[str, Any] = {"params": {"space": examples.CREW}}
    assert ada.ok("PATCH", "/v1/settings", json={"limit": 2})["settings"]["limit"]["value"] == 2
    assert len(ben.recall("deploys")) == 2
    assert ada.ok("PATCH", "/v1/settings", json={"limit": 1}, **in_crew)["settings"]["limit"]["value"] == 1
    assert len(ben.recall("deploys", spaces=[examples.CREW])) == 1
    assert len(ben.recall("deploys", spaces=["ben", examples.CREW])) == 2
    assert ada.ok("GET", "/v1/settings")["settings"]["limit"]["value"] == 2
    assert ada.ok("PATCH", "/v1/settings", json={"limit": None}, **in_crew)["settings"]["limit"]["value"] == 2
    assert ada.ok("PATCH", "/v1/settings", json={"limit": None})["settings"]["limit"]["value"] == 10
    assert len(ben.recall("deploys", spaces=[examples.CREW])) == 3


@pytest.mark.parametrize(
    "change",
    [
        {"weight.lexical": 5.1},
        {"weight.dense": -1},
        {"weight.exact": "1"},
        {"fusion": "sum"},
        {"limit": 1.5},
        {"limit": True},
        {"rrf.k": 60},
        {"k": 60},
        {"weight_lexical": 1},
        {"limit": 5, "fusion": "sum"},
    ],
)
def test_what_a_setting_cannot_be_is_refused(ada: Client, change: dict[str, object]) -> None:
    """A value out of bounds or of the wrong kind, and a name that is none, change nothing; k is no setting."""
    ada.refused("PATCH", "/v1/settings", 422, json=change)
    assert ada.ok("GET", "/v1/settings")["settings"]["limit"]["value"] == 10


def test_settings_are_changed_by_who_may(ada: Client, ben: Client) -> None:
    """The server's by who runs it, a space's by who administers it."""
    ben.refused("PATCH", "/v1/settings", 403, json={"limit": 3})
    ben.refused("PATCH", "/v1/settings", 403, json={"limit": 3}, params={"space": examples.CREW})
    ben.ok("PATCH", "/v1/settings", json={"limit": 3}, params={"space": "ben"})
    ada.refused("PATCH", "/v1/settings", 404, json={"limit": 3}, params={"space": "ben"})


def test_a_vector_set_is_begun_filled_switched_to_and_dropped(world: World) -> None:
    """Who runs the server makes a model's set beside what is in use, and switches recalls over."""
    server = with_toys(world.server)
    with in_process(server) as http:
        ada, ben = (Client(http, world.headers(name)) for name in ("ada", "ben"))
        ada.keep("Deploys run on Tuesdays.")
        assert ada.ok("GET", "/v1/vector-sets") == {"vector_sets": []}
        ben.refused("POST", "/v1/vector-sets", 403, json={"model": "toy"})
        begun = ada.ok("POST", "/v1/vector-sets", json={"model": "toy"})
        assert begun == {"model": "toy", "dimension": None, "active": False, "vectors": 0, "waiting": 1}
        build(server.open_store(None), server.gates.of("toy"))
        (filled,) = ada.ok("GET", "/v1/vector-sets")["vector_sets"]
        assert (filled["vectors"], filled["waiting"]) == (1, 0)
        assert ben.ok("GET", "/v1/vector-sets")["vector_sets"][0]["vectors"] == 0
        ada.refused("PUT", "/v1/vector-sets/active", 404, json={"model": "other"})
        ben.refused("PUT", "/v1/vector-sets/active", 403, json={"model": "toy"})
        assert ada.ok("PUT", "/v1/vector-sets/active", json={"model": "toy"})["vector_sets"][0]["active"]
        explained = ada.ok("POST", "/v1/recall", json={"query": "deploys tuesdays", "explain": True})["results"][0]
        assert "dense" in explained["explain"][0]["evidence"]
        ada.refused("DELETE", "/v1/vector-sets", 422, params={"model": "toy"})
        ada.ok("PUT", "/v1/vector-sets/active", json={"model": None})
        ben.refused("DELETE", "/v1/vector-sets", 403, params={"model": "toy"})
        ada.ok("DELETE", "/v1/vector-sets", 204, params={"model": "toy"})
        ada.refused("DELETE", "/v1/vector-sets", 404, params={"model": "toy"})


def test_a_model_that_cannot_be_opened_is_refused(ada: Client) -> None:
    """A name that is no model's says so, and nothing is begun."""
    problem = ada.refused("POST", "/v1/vector-sets", 422, json={"model": "no such thing"})
    assert problem["type"] == "urn:recollect:model"
    assert ada.ok("GET", "/v1/vector-sets") == {"vector_sets": []}
