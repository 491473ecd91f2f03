"""Two server processes over one database: what one is told, the other goes by at its very next request."""

import re
from contextlib import ExitStack

import httpx2

from recollect.core.settings import SETTINGS, Setting, Value
from serving import Client, serve_process

TOKEN = re.compile(r"rk_[a-z2-7]{12}_[a-z2-7]{52}")
SPACE = "crew"


def test_settings_reach_the_other_server(cloned_database: str) -> None:
    """Every setting, the server's and a space's own over it, and their going back, holds from the next request on."""
    with serve_process(cloned_database) as first, serve_process(cloned_database) as second, ExitStack() as stack:
        addresses = (first.address, second.address)
        (token,) = TOKEN.findall(first.output + second.output)
        headers = {"Authorization": f"Bearer {token}"}
        one, two = (Client(stack.enter_context(httpx2.Client(base_url=each)), headers) for each in addresses)
        one.ok("POST", "/v1/spaces", 201, json={"id": SPACE})
        for name in SETTINGS:
            _check_reach(one, two, name)
        _check_recalls(one, two)


def _check_reach(one: Client, two: Client, name: str) -> None:
    default = SETTINGS[name].default
    value, other = _others(SETTINGS[name])
    one.ok("PATCH", "/v1/settings", json={name: value})
    assert (_read(two, name), _read(two, name, SPACE)) == (value, value)
    two.ok("PATCH", "/v1/settings", json={name: other}, params={"space": SPACE})
    assert (_read(one, name), _read(one, name, SPACE)) == (value, other)
    one.ok("PATCH", "/v1/settings", json={name: None})
    assert (_read(two, name), _read(two, name, SPACE)) == (default, other)
    two.ok("PATCH", "/v1/settings", json={name: None}, params={"space": SPACE})
    assert (_read(one, name), _read(one, name, SPACE)) == (default, default)


def _others(setting: Setting) -> tuple[Value, Value]:
    """Give values that it does not have by default, two if there are."""
    if setting.choices:
        other = next(choice for choice in setting.choices if choice != setting.default)
        return other, other
    kind = type(setting.default)
    values = [kind(value) for value in (setting.most, setting.least, (setting.least + setting.most) / 2)]
    others = [value for value in values if value != setting.default]
    return others[0], others[-1]


def _read(client: Client, name: str, space: str | None = None) -> Value:
    shown = client.ok("GET", "/v1/settings", params={"space": space} if space else {})
    value: Value = shown["settings"][name]["value"]
    return value


def _check_recalls(one: Client, two: Client) -> None:
    for word in ("Tuesdays", "Fridays", "Mondays"):
        one.keep(f"Deploys run on {word}.", space=SPACE)
        one.keep(f"Deploys run on {word}.")
    for limit in (1, 2, 3, 1):
        one.ok("PATCH", "/v1/settings", json={"limit": limit}, params={"space": SPACE})
        assert len(two.recall("deploys", spaces=[SPACE])) == limit
        assert len(two.recall("deploys")) == 3
    two.ok("PATCH", "/v1/settings", json={"weight.lexical": 0, "weight.exact": 0})
    assert one.recall("deploys") == []
    two.ok("PATCH", "/v1/settings", json={"weight.lexical": None, "weight.exact": None})
    assert len(one.recall("deploys")) == 3
