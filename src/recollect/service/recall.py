"""The path of a recall, composed: legs, context, fusion, spread, rerank, prior, links, pack."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from recollect.core import query as queries
from recollect.core.context import REACH, take_context
from recollect.core.errors import NotFound
from recollect.core.fusion import LARGEST_WEIGHT, Normaliser, check_weights, convex, reciprocal_rank
from recollect.core.hits import Evidence, LegAnswer, Ref, Scored, Surroundings
from recollect.core.links import Served, apply_links, newest_of
from recollect.core.pack import LeftOutWhy, pack
from recollect.core.prior import apply_prior, put_newest_first
from recollect.core.rerank import put_quoted_first, rerank
from recollect.core.spread import SEEDS, TIE_KINDS, Spread, spread
from recollect.core.trace import StageTrace, Standing, Trace, WhyNot, why_not
from recollect.service.ask import ask_legs, describe_failure
from recollect.service.opinions import Opinions, ask_reranker
from recollect.values import replace, value

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from recollect.core.memory import Link, Memory
    from recollect.core.ports import Reranker, Store
    from recollect.core.query import Query, Scope
    from recollect.core.settings import Settings


@value
class Recalled:
    """One memory of an answer, and what its links bring along."""

    memory: Memory
    score: float
    instead_of: tuple[Ref, ...] = ()
    answers: tuple[Memory, ...] = ()
    pointers: tuple[tuple[str, Memory], ...] = ()


@value
class Recall:
    query: Query
    results: tuple[Recalled, ...]
    notices: tuple[str, ...]
    """What the user should know about how the answer came about."""
    left_out: Mapping[Ref, LeftOutWhy]
    tokens: int
    trace: Trace

    @property
    def shown(self) -> Iterator[Memory]:
        """Give every memory that the answer shows something of, its links' ends included."""
        for result in self.results:
            yield from (result.memory, *result.answers, *(memory for _, memory in result.pointers))


def recall(store: Store, query: Query, reranker: Reranker | None = None) -> Recall:
    queries.check(query)
    with store.reading(query):
        return _recall(store, query, reranker)


def _recall(store: Store, query: Query, reranker: Reranker | None) -> Recall:
    # Where spaces have settings of their own, those of the first one asked hold.
    settings = store.settings.read(query.scope.spaces[0])
    limit = settings.whole("limit") if query.limit is None else query.limit
    query = replace(query, limit=limit)
    weights = settings.by_leg("weight")
    check_weights({leg.name: weights[leg.name] for leg in store.legs})
    path = _Path()

    legs = [leg for leg in store.legs if weights[leg.name]]
    depth = max(settings.whole("depth"), limit)
    answers = ask_legs(legs, query, depth, settings.number("leg-timeout-ms") / 1000, in_turn=store.asks_in_turn)
    path.mark("legs", ())
    parts = _parts(settings)
    surroundings = _surroundings(store, query, answers, parts)
    answers = take_context(answers, surroundings, parts)
    if surroundings.near:
        # Words that were averaged with their surroundings are the better evidence (decision 7).
        weights["lexical"] = min(LARGEST_WEIGHT, weights["lexical"] * settings.number("words-in-context"))
    path.mark("context", (), on=bool(surroundings.near))
    # What stands further down than any leg looks cannot come far enough up.
    fused = path.mark("fusion", _fuse(answers, weights, settings)[:depth])
    flow = _spread(store, query, fused, settings, in_session=bool(fused) and fused[0].ref in surroundings.near)
    flowed = path.mark("spread", flow.ranking[:depth], on=bool(flow.ways))
    found = _present(store, query.scope, [item.ref for item in flowed])
    quoted = put_quoted_first(flowed, found, query.text) if settings.whole("quoted-first") else flowed
    opinions = _ask_reranker(reranker, query, quoted, found, settings)
    reranked = rerank(quoted, opinions.scores)
    path.mark("rerank", reranked, on=reranked != flowed)
    weighed = path.mark("prior", _apply_prior(reranked, found, query, settings))
    links, present = find_linked(store, query.scope, found)
    served = apply_links(weighed, links, present, query.exclude)
    path.mark("links", _scores(served))
    packed = pack(
        served,
        present,
        answers,
        floors=_floors(answers, settings),
        limit=limit,
        budget=query.budget,
    )
    path.mark("pack", _scores(packed.served))

    newest = newest_of(links, present)
    replaced = {item.ref: newest[item.ref] for item in weighed if item.ref in newest}
    attached = {answer: item.ref for item in packed.served for answer in item.answers}
    return Recall(
        query=query,
        results=tuple(_show(item, present) for item in packed.served),
        notices=_notices(store, query, answers, flow, opinions),
        left_out=packed.left_out,
        tokens=packed.tokens,
        trace=Trace(answers, tuple(path.stages), replaced, attached, packed.left_out, flow.ways),
    )


def explain_missing(
    store: Store,
    query: Query,
    ref: Ref,
    reranker: Reranker | None = None,
    see: Callable[[Recall, Ref], Recall] | None = None,
) -> WhyNot:
    """Say why a memory is not in the answer to a query; `see` gives the answer as far as whoever asks may know it."""
    standing = _standing(store, query, ref)
    if standing.state != "in scope":
        return why_not(Trace(), ref, standing, {})
    answer = recall(store, query, reranker)
    evidence = {leg: evidence.summary for leg, evidence in weigh_evidence(store, answer, ref).items()}
    return why_not((see(answer, ref) if see else answer).trace, ref, standing, evidence)


def weigh_evidence(store: Store, answer: Recall, ref: Ref) -> dict[str, Evidence]:
    """Give what each leg that took part has to say about one memory."""
    answering = {leg_answer.leg for leg_answer in answer.trace.answers if leg_answer.failure is None}
    return {leg.name: leg.weigh(answer.query, ref) for leg in store.legs if leg.name in answering}


class _Path:
    """Keeps what each stage left, and how long it took."""

    def __init__(self) -> None:
        self.stages: list[StageTrace] = []
        self._since = time.perf_counter()

    def mark(self, stage: str, ranking: tuple[Scored, ...], *, on: bool = True) -> tuple[Scored, ...]:
        now = time.perf_counter()
        self.stages.append(StageTrace(stage, ranking, (now - self._since) * 1000, on))
        self._since = now
        return ranking


def _fuse(answers: Sequence[LegAnswer], weights: Mapping[str, float], settings: Settings) -> tuple[Scored, ...]:
    answering = [answer for answer in answers if answer.failure is None]
    if not answering:
        return ()
    if settings.choice("fusion") == "reciprocal-rank":
        return reciprocal_rank(answering, weights, settings.number("rrf.k"))
    normaliser: Normaliser = "min-max" if settings.choice("normaliser") == "min-max" else "theoretical-minimum"
    return convex(answering, weights, normaliser)


def _parts(settings: Settings) -> dict[str, float]:
    """Give how much each leg takes of its neighbours."""
    return {leg: settings.number("context") * part for leg, part in settings.by_leg("context").items()}


def _surroundings(store: Store, query: Query, answers: Sequence[LegAnswer], parts: Mapping[str, float]) -> Surroundings:
    """Give what stands around the hits of the legs that share."""
    found = {hit.ref for answer in answers if parts[answer.leg] for hit in answer.hits}
    return store.memories.surroundings(found, query.scope, REACH, query.exclude) if found else Surroundings()


def _spread(store: Store, query: Query, fused: Sequence[Scored], settings: Settings, *, in_session: bool) -> Spread:
    """Let score flow from the best; less where that measured worse: in conversations, and where nothing is named."""
    weights = {kind: settings.number(f"spread.{kind}") for kind in TIE_KINDS}
    kinds = [kind for kind, weight in weights.items() if weight]
    strength = settings.number("spread")
    seeds = [item.ref for item in fused[:SEEDS]]
    if not (strength and kinds and seeds):
        return Spread(tuple(fused), {})
    # Only where there is something to spread: a prompt's recall does without.
    from recollect.core.concepts import names_in

    if in_session:
        strength *= settings.number("spread.session")
    names = names_in(query.text)
    if not (names and store.concepts.knows(query.scope.spaces, names)):
        strength *= settings.number("spread.unnamed")
    if not strength:
        return Spread(tuple(fused), {})
    try:
        ties = store.concepts.ties(seeds, kinds, query.scope.as_of, settings.number("leg-timeout-ms") / 1000)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with it, what the legs found stands
        return Spread(tuple(fused), {}, describe_failure(error))
    return spread(fused, ties, weights, strength)


def _ask_reranker(
    reranker: Reranker | None,
    query: Query,
    ranking: Sequence[Scored],
    found: Mapping[Ref, Memory],
    settings: Settings,
) -> Opinions:
    top = [found[item.ref] for item in ranking if item.ref in found][: settings.whole("rerank")]
    if not top:
        return Opinions()
    if reranker is None:
        return Opinions(failure="no cross-encoder is named (RECOLLECT_RERANKER)")
    return ask_reranker(reranker, query.text, top, settings.number("rerank-timeout-ms") / 1000)


def _notices(
    store: Store, query: Query, answers: Sequence[LegAnswer], flow: Spread, opinions: Opinions
) -> tuple[str, ...]:
    left_out = [f"{answer.leg} was left out: {answer.failure}." for answer in answers if answer.failure]
    if flow.failure:
        left_out.append(f"spread was left out: {flow.failure}.")
    if opinions.failure:
        left_out.append(f"rerank was left out: {opinions.failure}.")
    by_meaning = any(answer.leg == "dense" and not answer.failure for answer in answers)
    if by_meaning and (waiting := store.vectors.count_waiting(query.scope.spaces)):
        left_out.append(f"{waiting:,} {'memory waits' if waiting == 1 else 'memories wait'} to be found by meaning.")
    return tuple(left_out)


def _floors(answers: Sequence[LegAnswer], settings: Settings) -> dict[str, float]:
    """Give the floors of the legs that answered: one that could not has no evidence to ask for."""
    answering = {answer.leg for answer in answers if answer.failure is None}
    return {leg: floor for leg, floor in settings.by_leg("floor").items() if leg in answering}


def _apply_prior(
    ranking: Sequence[Scored], found: Mapping[Ref, Memory], query: Query, settings: Settings
) -> tuple[Scored, ...]:
    weighed = apply_prior(ranking, found, query.sort)
    if query.sort == "recency" or not settings.whole("newest-first"):
        return weighed
    return put_newest_first(weighed, found, query.text)


def find_linked(store: Store, scope: Scope, found: Mapping[Ref, Memory]) -> tuple[list[Link], dict[Ref, Memory]]:
    """Give the links that touch what was found, and every memory at either end that is still there."""
    links = store.links.among(found, scope.as_of)
    ends = {Ref(link.space, end) for link in links for end in (link.source, link.target)} - found.keys()
    return links, {**found, **_present(store, scope, ends)}


def _present(store: Store, scope: Scope, refs: Collection[Ref]) -> dict[Ref, Memory]:
    """Read memories. What links lead to outside the scope, and what was just forgotten, is not served."""
    read = store.memories.get(refs, scope.as_of) if refs else {}
    return {ref: memory for ref, memory in read.items() if scope.admits(memory)}


def _scores(served: Sequence[Served]) -> tuple[Scored, ...]:
    return tuple(Scored(item.ref, item.score) for item in served)


def _show(item: Served, present: Mapping[Ref, Memory]) -> Recalled:
    return Recalled(
        memory=present[item.ref],
        score=item.score,
        instead_of=item.instead_of,
        answers=tuple(present[ref] for ref in item.answers),
        pointers=tuple((pointer.how, present[pointer.ref]) for pointer in item.pointers),
    )


def _standing(store: Store, query: Query, ref: Ref) -> Standing:
    now = store.memories.get([ref]).get(ref)
    if now is None:
        raise NotFound(f"There is no memory {ref.id}: `recollect list` shows what there is.")
    then = store.memories.get([ref], query.scope.as_of).get(ref)
    if then is None:
        return Standing("not yet known", f"It was not known yet: it was stored on {now.created_at:%Y-%m-%d %H:%M}.")
    if then.deleted_at is not None:
        return Standing("forgotten", f"It was forgotten on {then.deleted_at:%Y-%m-%d %H:%M}.")
    if not query.scope.admits(then):
        return Standing("other scope", f"It lies outside the scope asked: {_where(then)}.")
    if ref.id in query.exclude:
        return Standing("excluded", "The query excludes it: the prompt holds it already.")
    return Standing("in scope")


def _where(memory: Memory) -> str:
    parts = {
        "space": memory.space,
        "project": memory.project or "none",
        "category": memory.category,
        "session": memory.session,
        "place": memory.place,
    }
    return ", ".join(f"its {name} is {value}" for name, value in parts.items() if value is not None)
