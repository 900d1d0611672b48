"""No filter costs a result: 10,000 random queries, filters and scopes on both stores.

Documents are random in all that a filter can ask for.
Each case is a query of a few words, with filters in the query line, filters by name and a scope of
its own, asked of `Library.search` for a random number of results.
An answer is short if it has fewer results than were asked for while more documents match: those in
scope that hold one of the words, or whose best passage is similar enough for the dense lane.
A document leaks if it is shown and not in scope.
What is in scope and what matches is decided here document by document, with none of the code that
finds candidates.
Cases go to the stores by turns.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

import corpus
from outcome import Goal, Outcome, Room, Table
from twolane.embedding.embedders.hashing import HashingEmbedder
from twolane.library import Library
from twolane.model.answer import Mode
from twolane.model.document import Batch, Chunk, Collection, Document, Kind, Prepared, Stems, digest
from twolane.model.scope import Scope
from twolane.ports import Stores
from twolane.ports.documents import PutCollection
from twolane.ports.vectors import NewVector
from twolane.query import narrow, parse
from twolane.query.given import scope_from
from twolane.settings import Settings
from twolane.stores.memory import memory_stores
from twolane.stores.memory.matching import holds, in_scope
from twolane.stores.sqlite import open_stores
from twolane.text.tokens import stream

_WORDS = ("anvil", "birch", "cedar", "drum", "ember", "flint", "grove", "harbour", "island", "jade",
          "kiln", "лес", "мост", "небо", "окно")  # fmt: skip
_COLLECTIONS = ("notes", "links", "box")
_TAGS = ("work", "work/deep", "home", "Дом", "draft", "deep work", "🔥")
_NOW = datetime(2024, 6, 15, 12, tzinfo=UTC)

# Filters as they are typed; each may be excluded.
_TYPED = (
    "kind:note", "kind:bookmark|prompt", "tag:work", "tag:work|home", 'tag:"deep work"', "tag:🔥",
    "path:a", "path:*/b/**", "path:c.md", "in:notes", "in:links", "lang:en", "lang:ru", "has:url",
    "has:tag", "has:used", "has:status", "after:2024-03", "before:2024-02",
    "updated:2024-01..2024-04", "created:2023", "created:>2024-02", "used:2024", "used:<2024-05",
    "status:done", "status:open|done", "rating:>3", "rating:1..2", "due:2024-05", "is:archived",
    "archived:any", '"anvil birch"',
    "title:cedar", "-drum",
)  # fmt: skip
_GIVEN: tuple[dict[str, object], ...] = (
    {"any_tag": ["home", "draft"]}, {"not_tag": "work"}, {"kind": ["note", "prompt"]},
    {"not_collection": "box"}, {"has": "url", "not_has": "used"}, {"where": "rating:<=3"},
    {"not_where": "status:done"}, {"created": "1y"}, {"archived": "any"}, {"not_path": "a"},
)  # fmt: skip


def measure(room: Room) -> Outcome:
    """Ask, and count what is missing and what should not be there."""
    dice = random.Random(corpus.SEED)
    held = [_document(dice, number) for number in range(400)]
    embedder = HashingEmbedder()
    vectors = {one.document.id: embedder.embed_passages([one.document.body])[0] for one in held}
    found = Counter[str]()
    rows: list[dict[str, Any]] = []
    with ExitStack() as opened:
        libraries: dict[str, Stores] = {
            "sqlite": open_stores(room.folder / "guaranteed.db"),
            "memory": memory_stores(),
        }
        asked = {
            name: opened.enter_context(Library(_filled(store, held, vectors), Settings(), embedder))
            for name, store in libraries.items()
        }
        properties = libraries["memory"].properties(Scope())
        for number in range(room.size(10_000, 400)):
            text, scope, mode, limit = _case(dice, properties)
            store = ("sqlite", "memory")[number % 2]
            answer = asked[store].search(text, scope=scope, mode=mode, limit=limit)
            matching, inside = _expected(text, scope, mode, held, vectors, embedder, properties)
            shown = {one.id for one in answer.results}
            short = len(answer.results) < min(limit, len(matching))
            leaked = sorted(shown - inside)
            found.update(
                {
                    "cases": 1,
                    f"cases on {store}": 1,
                    "short": short,
                    "leaked": len(leaked),
                    "with results": bool(shown),
                    "filled to the limit": len(shown) == limit,
                    "fewer in scope than asked for": len(matching) < limit,
                }
            )
            if short or leaked:
                rows.append({"text": text, "scope": repr(scope), "short": short, "leaked": leaked})
    return Outcome(
        goals=[
            Goal(
                f"Short answers in {found['cases']:,} random cases", found["short"], "", at_most=0
            ),
            Goal(f"Leaked documents in {found['cases']:,} cases", found["leaked"], "", at_most=0),
        ],
        tables=[Table("Random cases", ("what", "number"), sorted(found.items()))],
        rows=rows,
        facts={"documents": len(held), "words": len(_WORDS), "filters": len(_TYPED) + len(_GIVEN)},
    )


def _case(dice: random.Random, properties: frozenset[str]) -> tuple[str, Scope, Mode, int]:
    words = dice.sample(_WORDS, dice.choice((1, 1, 2, 3)))
    typed = [
        dice.choice(("", "", "-")) + one for one in dice.sample(_TYPED, dice.choice((0, 1, 2)))
    ]
    parts = [*words, *(one.replace("--", "-") for one in typed)]
    dice.shuffle(parts)
    given = dice.choice(({}, {}, *_GIVEN))
    scope = Scope(
        owner=dice.choice((None, None, None, "ann")),
        collections=dice.choice(((), (), ("notes",), ("notes", "links"))),
    )
    narrowed = scope_from(given, scope, properties=properties, now=_NOW)
    mode = dice.choice((Mode.HYBRID, Mode.HYBRID, Mode.LEXICAL, Mode.SEMANTIC))
    return " ".join(parts), narrowed, mode, dice.choice((1, 3, 10, 20, 50, 400))


def _expected(
    text: str,
    scope: Scope,
    mode: Mode,
    held: list[Prepared],
    vectors: dict[str, Any],
    embedder: HashingEmbedder,
    properties: frozenset[str],
) -> tuple[set[str], set[str]]:
    """The documents that match, and those that are in scope."""
    query = parse(text, ("en", "ru"), properties=properties)
    narrowed = narrow(scope, query)
    inside = {one.document.id: one for one in held if in_scope(one, narrowed)}
    matching: set[str] = set()
    if mode != Mode.SEMANTIC:
        matching |= {
            id for id, one in inside.items() if any(holds(one.stems, word) for word in query.words)
        }
    if mode != Mode.LEXICAL and query.meaning:
        asked = embedder.embed_query(query.meaning)
        # What is next to the threshold may be on either side of it, by rounding.
        matching |= {id for id in inside if float(np.dot(vectors[id], asked)) > 1e-5}
    return matching, set(inside)


def _filled(store: Any, held: list[Prepared], vectors: dict[str, Any]) -> Any:
    generation = store.vectors.open_generation(HashingEmbedder().space).number
    for name in _COLLECTIONS:
        store.documents.apply(PutCollection(Collection(name)))
        mine = [one for one in held if one.document.collection == name]
        store.documents.apply(Batch(name, mine))
        store.vectors.add(
            generation,
            [NewVector(one.chunks[0].content_hash, vectors[one.document.id]) for one in mine],
        )
    return store


def _document(dice: random.Random, number: int) -> Prepared:
    words = [dice.choice(_WORDS) for _ in range(dice.randint(3, 12))]
    body, title = " ".join(words), " ".join(dice.sample(_WORDS, 2)) + f" {number}"
    language = "ru" if sum(word > "z" for word in words) * 2 > len(words) else "en"
    days = iter([_NOW - timedelta(days=dice.randint(0, 700)) for _ in range(3)])
    document = Document(
        id=f"d{number:03}",
        collection=dice.choice(_COLLECTIONS),
        title=title,
        body=body,
        kind=dice.choice(tuple(Kind)),
        path=dice.choice(("a/x.md", "a/b/y.md", "c.md", f"d/b/{number}.md", None)),
        url=dice.choice((None, "https://example.org/x")),
        tags=tuple(dice.sample(_TAGS, dice.randint(0, 2))),
        owner=dice.choice((None, "ann", "bob")),
        created=dice.choice((None, next(days))),
        updated=dice.choice((None, next(days))),
        used=dice.choice((None, next(days))),
        archived=dice.random() < 0.1,
        deleted=dice.random() < 0.05,
        searchable=dice.random() > 0.05,
        properties=dict(_properties(dice)),
        content_hash=digest(f"{number}"),
    )
    chunk = Chunk(
        0, 0, len(body), 1, 1, (), language, len(words), digest(f"c{number}"), digest(f"t{number}")
    )
    stems = Stems(
        title=stream(title, language),
        tags="".join(stream(tag) for tag in document.tags),
        url=stream(document.url or ""),
        body=stream(body, language),
    )
    return Prepared(replace(document), (chunk,), stems)


def _properties(dice: random.Random) -> Iterator[tuple[str, object]]:
    if dice.random() < 0.6:
        yield "status", dice.choice(("done", "open", ["done", "late"], True))
    if dice.random() < 0.5:
        yield "rating", dice.choice((1, 2.5, "4", 5))
    if dice.random() < 0.3:
        yield "due", dice.choice(("2024-05-10", "2024-07-01"))
