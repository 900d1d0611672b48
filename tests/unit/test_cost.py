"""No query is dear: whatever is sent, it takes little of the processor."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

import pytest
from benchmarks.hostile_queries import LONGEST, queries

from tests.builders import indexed_library
from twolane import Library
from twolane.text.languages import FUNCTION_WORDS

# The words that make most of any text, in two languages by turns.
COMMON = [
    word
    for pair in zip(sorted(FUNCTION_WORDS["en"]), sorted(FUNCTION_WORDS["ru"]), strict=False)
    for word in pair
]

# So many notes, which take a tenth of the time that the benchmark's do.
NOTES = 300

# Seconds on the processor: many times what the dearest takes, and a fraction of what one quotation
# for each word took before quotations were bounded and looked for together.
CEILING = 1.0


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Notes of some hundred common words each, with vectors of a quick embedder."""
    dice = random.Random(7)
    folder = tmp_path_factory.mktemp("cost")
    for number in range(NOTES):
        title, *lines = (" ".join(dice.choices(COMMON, k=12)) for _ in range(40))
        body = f"# {title}\n\n" + ". ".join(lines)
        (folder / f"n{number}.md").write_text(body, "utf-8")
    with indexed_library(folder, tmp_path_factory.mktemp("db") / "x.db") as opened:
        # The first search of all loads what later ones share.
        opened.search("warm xyzzyx")
        yield opened


def cpu(work: Callable[[], object]) -> float:
    """The processor time that the work takes, in all threads."""
    started = time.process_time()
    work()
    return time.process_time() - started


def test_generated_queries_are_cheap(library: Library) -> None:
    """The dearest of some hundred queries that are made to be dear stays within a second."""
    made = list(queries(300, COMMON, seed=1))
    assert max(map(len, made)) == LONGEST
    cost = {text: cpu(lambda text=text: library.search(text)) for text in made}  # type: ignore[misc]
    worst = max(cost, key=cost.__getitem__)
    assert cost[worst] < CEILING, worst


@pytest.mark.parametrize(
    "text",
    [
        '"a" ' * 500,
        " ".join(f'"{word}"' for word in COMMON[:250]),
        " OR ".join(f'"{word}"' for word in COMMON[:120]),
        " ".join(f'-"{word}x"' for word in COMMON[:120]),
        "NEAR(" + " ".join(f'"{word}"' for word in COMMON[:200]) + ", 9999)",
        " ".join(f"{word[:1]}*" for word in COMMON[:400]),
        " ".join(f'"{sign}"' for sign in ("->", ":=", "=>", "<<", "🎉", "…", "§§", "::")),
        " ".join(f"{word}{word}q" for word in COMMON[:100]),
    ],
    ids=["repeated", "many", "either", "without", "near", "prefixes", "signs", "slips"],
)
@pytest.mark.parametrize("mode", ["hybrid", "lexical", "exact"])
def test_what_is_known_to_be_dear_is_cheap(library: Library, text: str, mode: str) -> None:
    """What once held the server for minutes takes a fraction of a second, in every mode."""
    assert cpu(lambda: library.search(text[:LONGEST], mode=mode)) < CEILING


@pytest.mark.parametrize("text", ['"a" "the" "of" "and" "in"', '"a" ' * 500])
def test_why_is_cheap(library: Library, text: str) -> None:
    """Why a note is not among the results of such a query costs little more than the query."""
    first = library.search("the").results[-1].id
    assert cpu(lambda: library.why(text, first)) < 2 * CEILING


def test_a_quotation_costs_no_more_when_it_is_repeated(library: Library) -> None:
    """Five hundred times the same quotation costs about what one of them does."""
    once = min(cpu(lambda: library.search('"a" the', limit=5)) for _ in range(3))
    often = min(cpu(lambda: library.search('"a" ' * 500 + "the", limit=5)) for _ in range(3))
    # The rest is for reading two thousand characters.
    assert often < 10 * once + 0.2
