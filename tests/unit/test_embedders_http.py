"""Hosted models against a real server on this machine: what is sent, what comes back, what goes wrong."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import formatdate
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from provider_server import Provider, Scripted, serve, vector_of
from recollect.core.errors import EmbedderBusy, EmbedderError, TextRefused
from recollect.embedders.cohere import open_cohere
from recollect.embedders.hosted import HostedEmbedder
from recollect.embedders.naming import parse_model
from recollect.embedders.openai import open_openai
from recollect.embedders.voyage import open_voyage
from recollect.remote.http import LARGEST_ANSWER, LONGEST_WAIT, TRIES, Key, Pace

NOON = 1_767_268_800.0
KEY = "sk-very-secret-0123456789"
PROVIDERS = ("openai", "voyage", "cohere")
VERSIONS = {"openai": "v1", "voyage": "v1", "cohere": "v2"}
OPENERS = {"openai": open_openai, "voyage": open_voyage, "cohere": open_cohere}


@dataclass
class Hours:
    """Time that passes only by waiting, and chance that always takes the whole wait."""

    now: float = NOON
    waits: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    @property
    def pace(self) -> Pace:
        return Pace(clock=lambda: self.now, sleep=self.sleep, chance=lambda: 1.0, date=lambda: self.now)


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serve() as serving:
        yield serving


@pytest.fixture
def hours() -> Hours:
    return Hours()


def _open(
    provider: Provider, kind: str = "openai", hours: Hours | None = None, *, options: str = "", key: str = KEY
) -> HostedEmbedder:
    named = parse_model(f"{kind}:m@{provider.address}/{kind}/{VERSIONS[kind]}{options}")
    return OPENERS[kind](named, Key(named.key_variable, key), hours.pace if hours else None)


def _texts(count: int) -> list[str]:
    return [f"memory number {number}" for number in range(count)]


def _sent(provider: Provider) -> list[Sequence[str]]:
    return [body.get("input") or body["texts"] for body in provider.asked]


@pytest.mark.parametrize("kind", PROVIDERS)
def test_vectors_come_back_in_the_order_of_the_texts(provider: Provider, kind: str) -> None:
    """Whatever order the server answers in, each text gets its own vector, over any number of requests."""
    embedder = _open(provider, kind)
    texts = _texts(300)
    assert embedder.embed_documents(texts) == [vector_of(text) for text in texts]
    assert [text for batch in _sent(provider) for text in batch] == texts
    assert len(provider.asked) == {"openai": 10, "voyage": 3, "cohere": 4}[kind]
    assert embedder.embed_query("what?", 30) == vector_of("what?")
    assert (embedder.dimension, embedder.where) == (8, "local")
    assert embedder.embed_documents([]) == []


@pytest.mark.parametrize(
    ("kind", "document", "query"),
    [
        ("openai", {"encoding_format": "float", "dimensions": 4}, {"encoding_format": "float", "dimensions": 4}),
        (
            "voyage",
            {"input_type": "document", "output_dimension": 4},
            {"input_type": "query", "output_dimension": 4},
        ),
        (
            "cohere",
            {"input_type": "search_document", "output_dimension": 4, "embedding_types": ["float"]},
            {"input_type": "search_query", "output_dimension": 4, "embedding_types": ["float"]},
        ),
    ],
)
def test_each_provider_is_asked_in_its_own_words(
    provider: Provider, kind: str, document: dict[str, object], query: dict[str, object]
) -> None:
    """The sides of a search and the length of vectors are told as each provider documents it."""
    embedder = _open(provider, kind, options="?dimensions=4")
    assert embedder.dimension == 4
    embedder.embed_documents(["kept"])
    embedder.embed_query("asked", 30)
    named = "texts" if kind == "cohere" else "input"
    assert provider.asked == [
        {"model": "m", named: ["kept"], **document},
        {"model": "m", named: ["asked"], **query},
    ]
    assert {headers["authorization"] for headers in provider.headers} == {f"Bearer {KEY}"}


def test_a_server_without_keys_gets_none(provider: Provider) -> None:
    """Without a key there is no header for one."""
    _open(provider, key="").embed_query("asked", 30)
    assert "authorization" not in provider.headers[0]


def test_batches_are_bounded_by_characters_too(provider: Provider) -> None:
    """Long texts go a few at a time, and one that is over the bound alone goes alone."""
    texts = ["a" * 60_000, "b" * 39_999, "c", "d", "e" * 150_000, "f"]
    assert _open(provider, "voyage").embed_documents(texts) == [vector_of(text) for text in texts]
    assert [len(batch) for batch in _sent(provider)] == [3, 1, 1, 1]


def test_text_beyond_ascii_arrives_as_it_is(provider: Provider) -> None:
    """Text is sent as UTF-8; what is none in UTF-8 becomes a question mark and stops nothing."""
    _open(provider).embed_documents(["Grüße, 世界 🙂", "half a pair: \ud83d"])
    assert _sent(provider) == [["Grüße, 世界 🙂", "half a pair: ?"]]
    assert "世界".encode() in provider.received


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_what_may_pass_is_asked_again(provider: Provider, hours: Hours, status: int) -> None:
    """Limits and a server's own errors are waited out, twice as long each time."""
    provider.answer_next(*[Scripted(status)] * 3)
    assert _open(provider, hours=hours).embed_documents(["kept"]) == [vector_of("kept")]
    assert hours.waits == [0.5, 1.0, 2.0]


def test_a_connection_that_breaks_is_made_again(provider: Provider, hours: Hours) -> None:
    """A server that hangs up is asked again."""
    provider.answer_next(Scripted(drop=True))
    assert _open(provider, hours=hours).embed_query("asked", 30) == vector_of("asked")
    assert hours.waits == [0.5]


def test_tries_are_bounded(provider: Provider, hours: Hours) -> None:
    """A server that stays down is given up on, as busy, with its own words."""
    provider.answer_next(*[Scripted(500, b'{"error": {"message": "the cat sits on it"}}')] * TRIES)
    with pytest.raises(EmbedderBusy, match="the cat sits on it"):
        _open(provider, hours=hours).embed_documents(["kept"])
    assert len(provider.asked) == TRIES
    assert len(hours.waits) == TRIES - 1


def test_nobody_there_is_busy(hours: Hours) -> None:
    """A server that does not run may run later."""
    named = parse_model("openai:m@http://127.0.0.1:1/v1")
    embedder = open_openai(named, Key("K"), hours.pace)
    with pytest.raises(EmbedderBusy, match=r"127\.0\.0\.1:1 does not embed now.*See whether it runs"):
        embedder.embed_documents(["kept"])
    assert len(hours.waits) == TRIES - 1


def test_waits_spread_out_and_end(provider: Provider, hours: Hours) -> None:
    """The wait is a random part of a bound that doubles up to a longest."""
    chances = iter([0.25, 0.5, 0.75, 1.0])
    pace = Pace(clock=lambda: hours.now, sleep=hours.sleep, chance=lambda: next(chances))
    named = parse_model(f"openai:m@{provider.address}/openai/v1")
    provider.answer_next(*[Scripted(503)] * 4)
    open_openai(named, Key("K"), pace).embed_documents(["kept"])
    assert hours.waits == [0.125, 0.5, 1.5, 4.0]
    assert max(hours.waits) < LONGEST_WAIT


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("asked", "waits"),
    [
        ("7", [7.0]),
        ("0", [0.0]),
        (formatdate(NOON + 7, usegmt=True), [7.0]),
        (formatdate(NOON - 7, usegmt=True), [0.0]),
    ],
)
def test_a_wait_that_is_asked_for_is_kept(
    provider: Provider, hours: Hours, status: int, asked: str, waits: list[float]
) -> None:
    """Retry-After is waited out exactly, in seconds or as a date; a date that is past means now."""
    provider.answer_next(Scripted(status, headers={"Retry-After": asked}))
    assert _open(provider, hours=hours).embed_query("asked", 30) == vector_of("asked")
    assert hours.waits == waits


@pytest.mark.parametrize(
    "nonsense", ["soon", "-5", "1.5.2", "Mon, 99 Foo 2020 00:00:00 GMT", "Mon, 01 Jan 99999 00:00:00 GMT"]
)
def test_a_wait_that_cannot_be_read_is_our_own(provider: Provider, hours: Hours, nonsense: str) -> None:
    """A Retry-After that is none does not stop anything."""
    provider.answer_next(Scripted(429, headers={"Retry-After": nonsense}))
    assert _open(provider, hours=hours).embed_query("asked", 30) == vector_of("asked")


def test_a_wait_over_the_time_left_is_said(provider: Provider, hours: Hours) -> None:
    """Who is asked to wait longer than there is time learns how long, and at once."""
    provider.answer_next(Scripted(429, b'{"detail": "slow down"}', {"Retry-After": "120"}))
    with pytest.raises(EmbedderBusy, match="asks to wait 120 s: status 429, 'slow down'"):
        _open(provider, hours=hours).embed_query("asked", 5)
    assert hours.waits == []


def test_retries_of_a_query_end_with_its_time(provider: Provider, hours: Hours) -> None:
    """The waits between tries count: none is begun that would not end in time."""
    provider.answer_next(*[Scripted(503)] * TRIES)
    with pytest.raises(EmbedderBusy, match="did not embed in time"):
        _open(provider, hours=hours).embed_query("asked", 2)
    assert hours.waits == [0.5, 1.0]


@pytest.mark.parametrize("answer", [Scripted(hold=True), Scripted(drip=True)])
def test_a_query_never_takes_longer_than_its_time(provider: Provider, answer: Scripted) -> None:
    """A server that is silent, or that drips, is left when the time is over."""
    embedder = _open(provider)
    embedder.embed_query("to open the connection", 30)
    provider.answer_next(answer)
    begun = time.monotonic()
    with pytest.raises(EmbedderBusy):
        embedder.embed_query("asked", 0.3)
    assert 0.25 < time.monotonic() - begun < 3


def test_a_query_without_time_is_not_sent(provider: Provider) -> None:
    """With no time left nothing leaves."""
    with pytest.raises(EmbedderBusy, match="no time left"):
        _open(provider).embed_query("asked", 0)
    assert provider.received == b""


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize(("key", "says"), [(KEY, "refused the key that is set by"), ("", "wants a key: set")])
def test_a_refused_key_names_its_variable(provider: Provider, status: int, key: str, says: str) -> None:
    """Whoever is refused learns which variable to set, and is not asked again."""
    provider.answer_next(Scripted(status, json.dumps({"error": {"message": f"bad key {KEY}"}}).encode()))
    with pytest.raises(EmbedderError, match=f"{says} RECOLLECT_EMBEDDER_KEY"):
        _open(provider, key=key).embed_query("asked", 30)
    assert len(provider.asked) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "no such model", "type": "invalid_request_error"}},
        {"error": "no such model"},
        {"message": "no such model"},
        {"detail": "no such model"},
        {"detail": [{"msg": "no such model"}]},
        ["no such model"],
    ],
)
@pytest.mark.parametrize("status", [400, 404, 413, 422])
def test_a_refusal_is_told_in_the_providers_words(provider: Provider, status: int, body: object) -> None:
    """What the server says about the request reaches the user, wherever that provider puts it; once is enough."""
    provider.answer_next(Scripted(status, json.dumps(body).encode()))
    with pytest.raises(EmbedderError, match=rf"refused to embed: status {status}, .*no such model") as refused:
        _open(provider).embed_query("asked", 30)
    assert not isinstance(refused.value, EmbedderBusy)
    # The rest may be about the text, and another text may pass.
    assert isinstance(refused.value, TextRefused) == (status != 404)
    assert len(provider.asked) == 1


def test_a_path_that_is_not_there_says_so(provider: Provider) -> None:
    """An address that lacks its path is told from a model that is missing."""
    with pytest.raises(EmbedderError, match="no such path: /embeddings"):
        open_openai(parse_model(f"openai:m@{provider.address}"), Key("K")).embed_query("asked", 30)


def test_redirects_are_not_followed(provider: Provider) -> None:
    """Text goes to the address that was named and to no other."""
    provider.answer_next(Scripted(307, headers={"Location": f"{provider.address}/voyage/v1/embeddings"}))
    with pytest.raises(EmbedderError, match="sends on to another address"):
        _open(provider).embed_query("asked", 30)
    assert len(provider.asked) == 1


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"<html>welcome</html>", "did not answer in JSON"),
        (b"", "did not answer in JSON"),
        (b"[" * 100_000, "did not answer in JSON"),
        (b"{}", "did not answer as OpenAI does"),
        (b"[]", "did not answer as OpenAI does"),
        (b"null", "did not answer as OpenAI does"),
        (b'{"data": "none"}', "did not answer as OpenAI does"),
        (b'{"data": [{"embedding": [1.0]}]}', "did not answer as OpenAI does"),
        (b'{"data": [{"index": 1, "embedding": [1.0]}]}', "did not answer as OpenAI does"),
        (b'{"data": [{"index": 0, "embedding": ["1.0"]}]}', "did not answer as OpenAI does"),
        (b'{"data": [{"index": 0, "embedding": [null]}]}', "did not answer as OpenAI does"),
        (b'{"data": [{"index": 0, "embedding": "AAAA"}]}', "did not answer as OpenAI does"),
        (b'{"data": [{"index": 0, "embedding": [1%s]}]}' % (b"0" * 400), "did not answer as OpenAI does"),
        (b'{"data": [{"index": 0, "embedding": [NaN, 1.0]}]}', "no vector"),
        (b'{"data": [{"index": 0, "embedding": [Infinity]}]}', "no vector"),
        (b'{"data": [{"index": 0, "embedding": []}]}', "no vector"),
        (b'{"data": []}', "0 vectors for 1 texts"),
        (b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1]}]}', "2 vectors for 1 texts"),
    ],
)
def test_an_answer_that_is_none_is_an_error(provider: Provider, body: bytes, says: str) -> None:
    """Garbage, missing fields, wrong counts and what is no number end in an error, never in a vector."""
    provider.answer_next(Scripted(200, body))
    with pytest.raises(EmbedderError, match=says):
        _open(provider).embed_query("asked", 30)


@pytest.mark.parametrize("kind", ["voyage", "cohere"])
def test_an_answer_of_another_provider_is_an_error(provider: Provider, kind: str) -> None:
    """A server that speaks another provider's way is told as such."""
    provider.answer_next(Scripted(200, b'{"embeddings": [[1.0]]}'))
    with pytest.raises(EmbedderError, match=f"did not answer as {kind.capitalize()} does"):
        _open(provider, kind).embed_query("asked", 30)


def test_an_answer_without_end_is_cut(provider: Provider) -> None:
    """No server fills this machine's memory."""
    provider.answer_next(Scripted(200, b" " * (LARGEST_ANSWER + 1)))
    with pytest.raises(EmbedderError, match="did not answer in JSON"):
        _open(provider).embed_query("asked", 30)


def test_the_dimension_stays_what_it_was(provider: Provider) -> None:
    """Vectors of another length than before, or than asked for, are refused."""
    embedder = _open(provider)
    embedder.embed_query("asked", 30)
    provider.dimension = 16
    with pytest.raises(EmbedderError, match="16 numbers where 8 were expected"):
        embedder.embed_query("asked", 30)
    rows = [{"index": index, "embedding": [0.5] * (8 + index)} for index in range(2)]
    provider.answer_next(Scripted(200, json.dumps({"data": rows}).encode()))
    with pytest.raises(EmbedderError, match="9 numbers where 8 were expected"):
        embedder.embed_documents(["one", "two"])
    provider.answer_next(Scripted(200, json.dumps({"data": rows[:1]}).encode()))
    with pytest.raises(EmbedderError, match="8 numbers where 4 were expected"):
        _open(provider, options="?dimensions=4").embed_query("asked", 30)


@pytest.mark.parametrize(
    "answer",
    [
        *[Scripted(status, f'{{"message": "your key {KEY} is bad"}}'.encode()) for status in (400, 401, 429, 500)],
        *[Scripted(status, KEY.encode()) for status in (200, 307, 400)],
        Scripted(200, json.dumps({"data": KEY}).encode()),
        Scripted(429, f'{{"detail": "{KEY}"}}'.encode(), {"Retry-After": "999"}),
    ],
)
def test_no_error_shows_the_key(provider: Provider, hours: Hours, answer: Scripted) -> None:
    """Whatever a server repeats, the key is in no message and no cause of one."""
    provider.answer_next(*[answer] * TRIES)
    with pytest.raises(EmbedderError) as raised:
        _open(provider, hours=hours).embed_query("asked", 30)
    error: BaseException | None = raised.value
    while error is not None:
        assert KEY not in f"{error!r} {error}"
        error = error.__cause__ or error.__context__
    assert KEY.encode() in provider.received


@pytest.mark.parametrize("key", ["sk-1\nsk-2", "sk 1", "schlüssel", "sk-1\x00"])
def test_what_is_no_key_is_not_sent(provider: Provider, key: str) -> None:
    """A key that no header can carry is refused by its variable's name, before anything is sent."""
    with pytest.raises(EmbedderError, match="RECOLLECT_EMBEDDER_KEY holds what no key holds") as refused:
        _open(provider, key=key)
    assert key not in str(refused.value)
    assert key not in repr(Key("K", key))


@pytest.mark.parametrize("kind", PROVIDERS)
def test_a_provider_wants_its_key(kind: str) -> None:
    """Without a key the provider's own address is not even asked."""
    named = parse_model(f"{kind}:m")
    with pytest.raises(EmbedderError, match=f"needs a key: set {kind.upper()}_API_KEY"):
        OPENERS[kind](named, Key(named.key_variable), None)
    assert OPENERS[kind](named, Key(named.key_variable, KEY), None).where == "remote"


def test_long_refusals_are_shortened(provider: Provider) -> None:
    """A page of text from a server becomes a sentence."""
    provider.answer_next(Scripted(400, json.dumps({"message": "no\n" * 10_000}).encode()))
    with pytest.raises(EmbedderError) as refused:
        _open(provider).embed_query("asked", 30)
    assert len(str(refused.value)) < 400


def test_a_server_that_cannot_prove_its_name_gets_nothing(tmp_path: Path, hours: Hours) -> None:
    """Behind https a certificate that nobody vouches for ends the matter before a word is sent."""
    certificate = tmp_path / "certificate.pem"
    certificate.write_bytes(_sign_for_oneself())
    with serve(certificate) as provider:
        with pytest.raises(EmbedderBusy, match=r"(?i)certificate"):
            _open(provider, hours=hours).embed_query("asked", 30)
        assert provider.received == b""


def _sign_for_oneself() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    kept = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return kept + signed.public_bytes(pem)


def test_no_proxy_sees_what_stays_here(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy in the environment is not for a server on this machine."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert _open(provider).embed_query("asked", 30) == vector_of("asked")
