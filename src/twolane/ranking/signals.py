"""What may move a document after fusion: its freshness, how lately and often used, tags, kind.

Each signal adds `weight × strength / (k + 1)`: a strength of 1 at weight 1 is as much as a lane's
first rank, so useful weights are small.
They are off by default: none of them earned its place on our sets, and they are for libraries whose
dates, uses and tags say more than ours do.
The floor for each kind is on: a thousand bookmarks must not hide the one note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from twolane.model.answer import Boost, Contribution, Lane, Signal
from twolane.model.candidate import Fused
from twolane.model.document import Document, Kind
from twolane.model.scope import ANYWHERE, Scope, Word
from twolane.ports import Stores
from twolane.ports.documents import WHOLE, DocumentStore
from twolane.ports.lexical import LexicalIndex
from twolane.query import Query
from twolane.ranking.lanes import lexical_hits
from twolane.settings import Settings
from twolane.text.tokens import stream

# Nobody looks at places further down for a kind that is missing.
_TOP = 10

# After so many days a change or a use counts half as much.
_HALF_LIFE_DAYS = 180.0

# So many uses count half as much as any number of them.
_HALF_USES = 10.0

# A vote of 1 is a match of every word; sums of shares may fall a little short of it.
_WHOLE = 0.999


def boosted(
    documents: DocumentStore,
    fused: Sequence[Fused],
    query: Query,
    settings: Settings,
    now: datetime,
) -> list[Fused]:
    """The ranking with the signals that are switched on added to each score."""
    weights = {
        Signal.RECENCY: settings.ranking.recency_weight,
        Signal.USE: settings.ranking.use_weight,
        Signal.USAGE: settings.ranking.usage_weight,
        Signal.TAGS: settings.ranking.tag_weight,
    }
    wanted = {signal: weight for signal, weight in weights.items() if weight}
    if not wanted or not fused:
        return list(fused)
    parts = WHOLE if settings.ranking.tag_weight else frozenset()
    stored = documents.get([one.id for one in fused], ANYWHERE, parts)
    found = []
    for one in fused:
        held = stored.get(one.id)
        strengths = _strengths(held.document, query.marks, now) if held else {}
        boosts = tuple(
            Boost(signal, strength, weight, weight * strength / (settings.ranking.rrf_k + 1))
            for signal, weight in wanted.items()
            if (strength := strengths.get(signal, 0.0)) > 0
        )
        score = one.score + sum(boost.value for boost in boosts)
        found.append(one._replace(score=score, boosts=boosts))
    found.sort(key=lambda one: (-one.score, one.id))
    return found


def floored(
    stores: Stores,
    fused: Sequence[Fused],
    query: Query,
    scope: Scope,
    settings: Settings,
    *,
    limit: int,
    full: bool,
) -> list[Fused]:
    """The ranking in which no kind that holds all of the words is crowded out of the top.

    Each kind in scope gets `kind_floor` of the last places of the top where its best documents
    that hold every word would rank further down, or, if the lexical lane's pool is `full`, are in
    no pool at all.
    """
    floor, top = settings.ranking.kind_floor, min(limit, _TOP)
    if not floor or not query.words or len(fused) <= top:
        return list(fused)
    kinds = stores.documents.stats(scope.all_of_owner).kinds.intersection(scope.kinds or Kind)
    if len(kinds) < 2:
        return list(fused)
    whole = [one for one in fused[top:] if _holds_all(one)]
    ids = [one.id for one in (*fused[:top], *whole)]
    held = stores.documents.get(ids, ANYWHERE, frozenset())
    kind_of = {id: one.document.kind for id, one in held.items()}
    shown = Counter(kind_of[one.id] for one in fused[:top] if one.id in kind_of)
    promoted: list[Fused] = []
    for kind in sorted(kinds):
        lacking = floor - shown[kind]
        if lacking > 0:
            of_kind = [one for one in whole if kind_of.get(one.id) == kind]
            if len(of_kind) < lacking and full:
                of_kind = _best(
                    stores.lexical, query, replace(scope, kinds=(kind,)), settings, lacking
                )
            promoted += of_kind[:lacking]
    if not promoted:
        return list(fused)
    chosen = {one.id for one in promoted}
    rest = [one for one in fused if one.id not in chosen]
    # The first place is the best document's, whatever its kind.
    head = max(1, top - len(promoted))
    return [*rest[:head], *promoted, *rest[head:]]


def _holds_all(one: Fused) -> bool:
    return any(
        each.lane == Lane.LEXICAL and not each.abstained and each.vote >= _WHOLE
        for each in one.contributions
    )


def _best(
    lexical: LexicalIndex, query: Query, scope: Scope, settings: Settings, count: int
) -> list[Fused]:
    """The best documents of a scope that hold every word."""
    hits = lexical_hits(
        lexical,
        query,
        scope,
        limit=count,
        common_share=settings.ranking.common_share,
        coverage_power=settings.ranking.coverage_power,
        relaxation="all",
    )
    return [
        Fused(
            hit.id,
            0.0,
            (
                Contribution(
                    lane=Lane.LEXICAL,
                    rank=None,
                    score=hit.score,
                    weight=settings.ranking.lexical_weight,
                    vote=hit.vote,
                    value=0.0,
                    matched=hit.matched,
                ),
            ),
            hit.position,
        )
        for hit in hits
    ]


def _strengths(document: Document, words: Sequence[Word], now: datetime) -> dict[Signal, float]:
    """How strong each signal is, from 0 to 1."""
    return {
        Signal.RECENCY: _decayed(document.updated, _HALF_LIFE_DAYS, now),
        Signal.USE: _decayed(document.used, _HALF_LIFE_DAYS, now),
        # The second use says more than the hundredth.
        Signal.USAGE: document.uses / (document.uses + _HALF_USES),
        Signal.TAGS: _overlap(document.tags, words),
    }


def _decayed(at: datetime | None, half_life: float, now: datetime) -> float:
    """1 for now, half for each half-life since; nothing for what never happened."""
    if at is None:
        return 0.0
    moment = at if at.tzinfo else at.replace(tzinfo=UTC)
    days = max(0.0, (now - moment).total_seconds() / 86_400)
    return float(0.5 ** (days / half_life))


def _overlap(tags: Sequence[str], words: Sequence[Word]) -> float:
    """The share of the query's words that are words of the tags."""
    if not tags or not words:
        return 0.0
    stems = "".join(stream(tag) for tag in tags)
    return sum(any(f" {term} " in stems for term in word.terms) for word in words) / len(words)
