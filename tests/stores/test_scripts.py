"""Text that is not in English: kept as it is, and found by the same words with the same scores in every store."""

# ruff: noqa: RUF001 - letters that look like Latin ones are the point

import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from making import about, by_words, change_memory, make_memory, make_query
from postgres import made_database
from recollect.core.hits import Hit
from recollect.core.ports import Store
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.store import PostgresStore
from recollect.stores.sqlite.store import SqliteStore

TEXTS: Final = {
    "German": "Die Prüfung der Straße dauert länger als gedacht.",
    "Danish": "Serveren på Ærø genstarter hver tirsdag.",
    "Turkish": "İstanbul'daki sunucu salı günü yeniden başlar.",
    "Vietnamese": "Máy chủ khởi động lại vào thứ ba.",
    "Russian": "Сервер перезапускается по вторникам.",
    "Greek": "Ο διακομιστής επανεκκινείται κάθε Τρίτη.",
    "Hebrew": "השרת מופעל מחדש בימי שלישי.",
    "Arabic": "يعاد تشغيل الخادم كل يوم ثلاثاء.",
    "Hindi": "सर्वर हर मंगलवार को पुनः आरंभ होता है।",
    "Thai": "เซิร์ฟเวอร์เริ่มใหม่ทุกวันอังคาร",
    "Chinese": "服务器每周二重新启动。",
    "Japanese": "サーバーは毎週火曜日に再起動します。",
    "Korean": "서버는 화요일마다 다시 시작됩니다.",
    "emoji": "Party 🎉 for the 👩‍💻 team, see naïve_café.py 🇩🇪",
    "decomposed": unicodedata.normalize("NFD", "Crème brûlée à la carte, Ångström Ðuro"),
    "compatible": "The ﬁle № Ⅳ of ａｂｃ１２３ and 𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
    "mixed": "Прод-сервер prod-01 in 东京 läuft wieder.",
}
QUERIES: Final = {
    "PRÜFUNG STRASSE": "German",
    unicodedata.normalize("NFD", "prüfung länger"): "German",
    "ærø tirsdag": "Danish",
    "istanbul sunucu": "Turkish",
    "máy chủ khởi": "Vietnamese",
    "сервер ВТОРНИКАМ": "Russian",
    "ΔΙΑΚΟΜΙΣΤΉΣ τρίτη": "Greek",
    "השרת שלישי": "Hebrew",
    "الخادم ثلاثاء": "Arabic",
    "सर्वर मंगलवार": "Hindi",
    "เซิร์ฟเวอร์ อังคาร": "Thai",
    "服务器 启动": "Chinese",
    "再起動 火曜日": "Japanese",
    "서버는 화요일": "Korean",
    "party 🎉 naive_cafe.py": "emoji",
    unicodedata.normalize("NFC", "crème brûlée ångström"): "decomposed",
    "file abc123 unicode": "compatible",
    "prod-01 东京": "mixed",
}


@pytest.fixture(scope="module")
def stores(
    postgres_url: str, template_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Store, Store]]:
    """Give one store of each kind with the same texts in them."""
    path = tmp_path_factory.mktemp("scripts") / "memory.db"
    with made_database(postgres_url, f"TEMPLATE {template_database}") as url:
        both: tuple[Store, Store] = (SqliteStore(str(path)), PostgresStore(Database.open(url, size=2)))
        for store in both:
            for number, (name, text) in enumerate(TEXTS.items(), start=1):
                memory = make_memory(number, text, category=name, project=TEXTS["Greek"], tags=(text[:20],))
                store.memories.add([memory])
                # What was edited is indexed as what was not.
                store.memories.change(change_memory(memory, 1000, content=f"{text} {text[:9]}"))
        yield both
        for store in both:
            store.close()


def _search(store: Store, text: str, leg: str) -> list[Hit]:
    (searching,) = [each for each in by_words(store) if each.name == leg]
    return list(searching.search(make_query(text), 50, 60.0))


def _expected(hits: list[Hit]) -> list[tuple[object, ...]]:
    return [(hit.ref, about(hit.score, 1e-6), about(hit.evidence, 1e-6)) for hit in hits]


def test_texts_are_kept_as_they_are(stores: tuple[Store, Store]) -> None:
    """Not a character is changed, composed or lost, in any state of a memory."""
    for store in stores:
        for name, text in TEXTS.items():
            (memory,) = store.memories.page(make_query(categories=frozenset({name})).scope, 10)
            assert memory.content == f"{text} {text[:9]}"
            (first, _) = store.memories.history(next(ref for ref in store.memories.walk() if ref.id == memory.id))
            assert (first.memory.content, first.memory.tags) == (text, (text[:20],))


@pytest.mark.parametrize(("query", "name"), QUERIES.items(), ids=QUERIES.values())
def test_the_same_is_found_in_every_store(stores: tuple[Store, Store], query: str, name: str) -> None:
    """The text that a query is about comes first, and both stores give the same hits with the same scores."""
    laptop, server = stores
    for leg in ("lexical", "exact"):
        hits = _search(server, query, leg)
        assert [(hit.ref, hit.score, hit.evidence) for hit in hits] == _expected(_search(laptop, query, leg))
    best = _search(server, query, "lexical")[0]
    assert server.memories.get([best.ref])[best.ref].category == name


def test_what_is_counted_comes_in_the_same_order(stores: tuple[Store, Store]) -> None:
    """Labels in any script are counted alike, and ties are ordered alike."""
    (laptop,), (server,) = (store.count() for store in stores)
    assert server == laptop
    assert list(server.categories) == list(laptop.categories)
    assert all(one < other for one, other in pairwise(server.categories))


def test_a_space_of_any_name_is_its_own(tmp_path: Path, empty_store_database: str) -> None:
    """Names of spaces that differ only in how they are composed or written are different spaces."""
    names = [unicodedata.normalize("NFC", "Café"), unicodedata.normalize("NFD", "Café"), "café", "カフェ", "☕"]
    for store in (SqliteStore(str(tmp_path / "m.db")), PostgresStore(Database.open(empty_store_database, size=1))):
        for number, name in enumerate(names, start=1):
            store.memories.add([make_memory(number, space=name)])
        assert [count.memories for count in store.count()] == [1] * len(names)
        assert [ref.space for ref in store.memories.walk()] == sorted(names)
        for number, name in enumerate(names, start=1):
            assert [hit.ref.id for hit in store.legs[0].search(make_query("deploys", name), 9, 60.0)] == [
                make_memory(number).id
            ]
        store.close()
