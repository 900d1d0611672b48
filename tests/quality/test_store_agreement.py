"""All stores rank as SQLite does: the same documents, the same counts, the same order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

import twolane
from tests.postgres_server import Server
from tests.qdrant_server import Node
from twolane import Library, Mode
from twolane.model.answer import Feature, Lane, Result
from twolane.model.scope import Scope, Word
from twolane.settings import Settings

VAULT = Path(twolane.__file__).parent / "sample_vault"
GOLDEN = Path(__file__).parents[2] / "benchmarks" / "golden"

# What people ask of the sample vault, and every part of the query language.
QUERIES = (
    "telescope",
    "how do I prune tomatoes",
    "ночной забег",
    "резервные копии базы",
    "half marathon plan",
    "first telescope astronomy club",
    '"first telescope"',
    "tag:astronomy telescope",
    "-telescope astronomy",
    "title:plan",
    "telescop*",
    "telescpoe",
    "running OR garden",
    "(running OR garden) plan",
    "path:garden compost",
    "NEAR(telescope club)",
    "https://",
    "->",
    "кухня ремонт план",
    "what did I learn about backups",
)


@dataclass(frozen=True)
class Pair:
    """Two libraries of the same notes."""

    file: Library
    server: Library


@pytest.fixture(scope="module", params=["postgres", "qdrant"])
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    """The sample vault, indexed and embedded in both stores."""
    settings = Settings(embedding={"embedder": "hashing"})
    folder = tmp_path_factory.mktemp("agreement")
    with ExitStack() as stack:
        if request.param == "postgres":
            server: Server = request.getfixturevalue("postgres")
            place, there = stack.enter_context(server.database()), settings
        else:
            node: Node = request.getfixturevalue("qdrant")
            place = str(folder / "followed.db")
            there = settings.changed(
                qdrant={"urls": [node.url], "name": "agreement", "seconds": 30}
            )
        file = stack.enter_context(Library.open(folder / "file.db", settings=settings))
        other = stack.enter_context(Library.open(place, settings=there))
        for one in (file, other):
            one.index(VAULT)
            one.embed()
        if request.param == "qdrant":
            assert other.reindex() == other.status().stats.documents
        yield Pair(file, other)


def asked(library: Library, query: str, mode: Mode) -> list[Result]:
    """The first results of a search.

    Further down, similarities are equal but for their last digits, and each store has its own.
    """
    return list(library.search(query, limit=10, mode=mode).results)


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("query", QUERIES)
def test_results_are_the_same(pair: Pair, query: str, mode: Mode) -> None:
    """Documents, passages, scores, relevance and the share of every feature.

    Numbers are the same but for what weights make of the last digits of a feature.
    """
    here, there = asked(pair.file, query, mode), asked(pair.server, query, mode)
    assert [(one.id, one.lines) for one in there] == [(one.id, one.lines) for one in here]
    for one, other in zip(here, there, strict=True):
        assert other.score == pytest.approx(one.score, abs=1e-5), one.id
        assert other.relevance == pytest.approx(one.relevance, abs=1e-5), one.id
        assert shares(other) == pytest.approx(shares(one), abs=1e-5), one.id


def shares(result: Result) -> dict[tuple[Lane, Feature], float]:
    """What each feature gave a result."""
    return {(one.lane, one.feature): one.share for one in result.contributions}


@pytest.mark.parametrize("mode", list(Mode))
def test_features_are_the_same(pair: Pair, mode: Mode) -> None:
    """The ranking model sees the same of every document, whichever store tells it.

    Only what is as similar as the least that counts may be left out: its last digit decides.
    """
    floor = pair.file.settings.search.min_similarity
    for query in (*QUERIES, *golden_queries()):
        found = [
            {one.id: one for one in each.candidates(query, mode=mode, limit=999)}
            for each in (pair.file, pair.server)
        ]
        for id in found[0].keys() ^ found[1].keys():
            alone = found[0].get(id) or found[1][id]
            assert set(alone.ranks) == {Lane.DENSE}, (query, id)
            assert alone.similarity == pytest.approx(floor, abs=1e-6), (query, id)
        for id in found[0].keys() & found[1].keys():
            one, other = found[0][id], found[1][id]
            assert other.features == pytest.approx(one.features, abs=1e-6), (query, id)
            assert other.matched == one.matched, (query, id)
            assert other.foreign == one.foreign, (query, id)


def golden_queries() -> list[str]:
    """Queries that the quality of searches is measured by."""
    found = []
    for file in sorted(GOLDEN.glob("*.dev.json")):
        held = json.loads(file.read_text("utf-8"))
        found += [one["query"] for one in held["queries"][:6]]
    return found


def words_of(query: str) -> list[Word]:
    """The words of a query as the lexical lane asks for them."""
    found = twolane.analyze(query).words
    return [Word(one.text, one.stems) for one in {each.stems: each for each in found}.values()]


@pytest.mark.parametrize("every", [True, False])
def test_candidates_have_the_same_counts(pair: Pair, every: bool) -> None:
    """Whatever is asked for, the same documents come with equal counts and frequencies."""
    stores = [one._stores.searched.lexical for one in (pair.file, pair.server)]
    for query in (*QUERIES, *golden_queries()):
        words = words_of(query)
        if not words:
            continue
        found = [
            {one.id: one for one in each.candidates(words, Scope(), every=every, limit=999)}
            for each in stores
        ]
        assert found[0] == found[1], query
        told = [each.document_frequencies(words, Scope()) for each in stores]
        assert told[0] == told[1], query


def test_a_small_pool_is_as_good(pair: Pair) -> None:
    """Where more documents match than are looked at, both pick nearly the same."""
    shares = []
    for query in golden_queries():
        words = words_of(query)
        pools = [
            {
                one.id
                for one in each._stores.searched.lexical.candidates(
                    words, Scope(), every=False, limit=10
                )
            }
            for each in (pair.file, pair.server)
        ]
        if pools[0]:
            shares.append(len(pools[0] & pools[1]) / len(pools[0]))
    assert sum(shares) / len(shares) > 0.75


def test_why_and_similar_agree(pair: Pair) -> None:
    """Explanations and neighbours are the same, too."""
    for id in ("sample_vault/astronomy/first-telescope.md",):
        near = [[one.id for one in each.similar(id).results] for each in (pair.file, pair.server)]
        assert near[0] == near[1]
        assert near[0]
    assert pair.file.digest() == pair.server.digest()
