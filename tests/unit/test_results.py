"""What a caller sees of a found document."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolane.ingest.chunking import plain
from twolane.model.answer import Contribution, Feature, Lane, Result
from twolane.model.candidate import Candidate, Frequencies
from twolane.model.document import FIELDS, PASSAGE_BREAK, Chunk, Document, Heading
from twolane.model.scope import Word
from twolane.ranking.features import WordFeatures
from twolane.results import results
from twolane.results.highlighting import one_line, sought
from twolane.stores.term_counts import TermCounter
from twolane.text.tokens import stream, words_of

PARTS = (
    "# Plan\n\nThe plan for spring has twelve weeks.\n\n",
    "## Shoes\n\nTwo pairs of shoes, worn in turn, last longer than one.\n\n",
    "## Race day\n\nOn race day eat early. Running the race starts slow; the race is long.\n",
)


def note(*parts: str, headings: bool = True, **fields: Any) -> tuple[Document, list[Chunk]]:
    """A document whose chunks are the parts, with the headings that begin them."""
    body = "".join(parts)
    chunks, found = [], []
    path: tuple[str, ...] = ()
    for position, part in enumerate(parts):
        start = sum(map(len, parts[:position]))
        line = 1 + body.count("\n", 0, start)
        title = re.match("(#+) (.*)", part) if headings else None
        if title:
            level = len(title[1])
            path = (*path[: level - 1], title[2])
            found.append(Heading(level, title[2], line, start))
        last = line + part.rstrip("\n").count("\n")
        end = start + len(part)
        chunks.append(Chunk(position, start, end, line, last, path, "en", 9, "", ""))
    given_fields = {"id": "d", "collection": "c", "title": "Half marathon", **fields}
    document = Document(body=body, headings=tuple(found), **given_fields)
    return document, chunks


def found_by(
    lexical: float = 0.0,
    dense: float = 0.0,
    *,
    position: int | None = None,
    sentence: int | None = None,
) -> Candidate:
    """A candidate to which words and meaning gave these shares."""
    contributions = []
    if lexical:
        contributions.append(Contribution(Lane.LEXICAL, Feature.BM25F, 1.0, lexical, lexical))
    if dense:
        contributions.append(Contribution(Lane.DENSE, Feature.PASSAGE, 1.0, dense, dense))
    return Candidate("d", position=position, sentence=sentence, contributions=tuple(contributions))


def words(query: str) -> tuple[Word, ...]:
    """The query's words in the languages of these tests."""
    return words_of(query, ["en", "ru"])


def passage_for(
    document: Document,
    chunks: list[Chunk],
    marks: tuple[Word, ...],
    frequency: dict[str, int] | None = None,
) -> int | None:
    """The passage that holds most of the words, as the lexical lane tells it."""
    body = [stream(document.body[one.start : one.end], one.language) for one in chunks]
    streams = ["" for _ in FIELDS[:-1]] + [PASSAGE_BREAK.join(body)]
    frequencies = Frequencies(99, frequency or {}, dict.fromkeys(FIELDS, 9.0))
    terms = TermCounter(marks, marks).of("d", ("en",), streams)
    matched = WordFeatures(marks, marks, frequencies).of(terms)
    return matched.passage if matched else None


def result_of(
    candidate: Candidate, document: Document, chunks: list[Chunk], marks: tuple[Word, ...]
) -> Result:
    """The result that shows a candidate that the lexical lane has looked at."""
    measured = replace(candidate, passage=passage_for(document, chunks, marks))
    return results.result_of(measured, document, chunks, sought(marks))


def visible(markup: str) -> str:
    """What a reader sees of the HTML."""
    return html.unescape(re.sub("</?mark>", "", markup))


# ------------------------------------------------------------------------------- passage_for


@pytest.mark.parametrize(
    ("query", "position"),
    [
        ("shoe", 1),
        ("race running plan", 2),
        ("plan race", 2),
        ("spring weeks race", 0),
        ("boat", None),
    ],
)
def test_passage_holds_most_of_the_words(query: str, position: int | None) -> None:
    """The passage is the chunk with most distinct words, then most occurrences, or none."""
    document, chunks = note(*PARTS)
    assert passage_for(document, chunks, words(query)) == position


def test_first_of_equal_passages() -> None:
    """Among passages that answer alike the first is taken, however many there are."""
    for count in (3, 30):
        document, chunks = note("Nothing.\n", *["We run.\n"] * count)
        assert passage_for(document, chunks, words("run")) == 1


def test_rare_words_choose_the_passage() -> None:
    """One rare word outweighs two common ones."""
    document, chunks = note("early and slow\n", "the shoes\n")
    marks = words("early slow shoes")
    assert passage_for(document, chunks, marks) == 0
    assert passage_for(document, chunks, marks, {"earli": 98, "slow": 98}) == 1


def test_phrase_chooses_the_passage() -> None:
    """Words side by side beat the same words scattered, even if those occur more often."""
    parts = ["race day, then a run, race and day\n", "Nothing.\n", "race day run\n"]
    document, chunks = note(*parts)
    assert passage_for(document, chunks, words("race day run")) == 2


def test_passage_in_its_own_language() -> None:
    """Each passage is searched in its own language."""
    body = "Wir sehen Häusern zu.\n"
    document = Document(id="d", collection="c", title="t", body=body * 12)
    step = len(body)
    chunks = [
        Chunk(at, at * step, at * step + step, at + 1, at + 1, (), language, 9, "", "")
        for at, language in enumerate(["en"] * 9 + ["de"] * 3)
    ]
    assert passage_for(document, chunks, words_of("Haus", ["de"])) == 9


@given(st.lists(st.lists(st.sampled_from(("run", "race", "day", "on")), max_size=6), max_size=8))
def test_the_best_passage_is_found_among_many(lists: list[list[str]]) -> None:
    """It has most words, then most side by side, then most occurrences, then it is the first."""
    scores = {}
    for position, one in enumerate(lists):
        distinct = len({"race", "day", "run"} & set(one))
        text = f" {' '.join(one)} "
        neighbours = (" race day " in text) + (" day run " in text)
        occurrences = sum(word in ("race", "day", "run") for word in one)
        scores[position] = (distinct, neighbours, occurrences, -position)
    expected = max(scores, key=scores.__getitem__, default=None)
    if expected is not None and scores[expected][0] == 0:
        expected = None
    document, chunks = note(*[" ".join(one) + "\n" for one in lists])
    assert passage_for(document, chunks, words("race day run")) == expected


# ------------------------------------------------------------------------ the passage that won


def test_several_words_outweigh_a_model_of_passages() -> None:
    """A passage with more words of the query, and several of them, is shown before the nearest."""
    parts = ("A race of ants.\n", "Ants carry the day.\n", "On race day the ants rest.\n")
    document, chunks = note(*parts)
    near = found_by(lexical=0.001, dense=0.02, position=0)
    shown = {
        text: result_of(near, document, chunks, words(text)).lines
        for text in ("race day", "race", "ants", "race of ants")
    }
    assert shown == {
        "race day": (chunks[2].first_line, chunks[2].last_line),
        "race": (chunks[0].first_line, chunks[0].last_line),
        "ants": (chunks[0].first_line, chunks[0].last_line),
        "race of ants": (chunks[0].first_line, chunks[0].last_line),
    }


@pytest.mark.parametrize(
    ("candidate", "position"),
    [
        (found_by(lexical=0.02, dense=0.01, position=0), 2),
        (found_by(lexical=0.01, dense=0.02, position=0), 0),
        (found_by(lexical=0.02, dense=0.02, position=1), 1),
        (found_by(lexical=0.02), 2),
        (found_by(dense=0.02, position=7), 2),
    ],
)
def test_the_passage_that_won_is_shown(candidate: Candidate, position: int) -> None:
    """Heading, lines and snippet all come from the passage of the lane that gave more."""
    document, chunks = note(*PARTS)
    result = result_of(candidate, document, chunks, words("race"))
    chunk = chunks[position]
    assert result.heading == chunk.headings
    assert result.lines == (chunk.first_line, chunk.last_line)
    assert visible(result.snippet) in one_line(plain(PARTS[position]))


PASSAGE = (
    "## Care\n\nBrush them after every run. Stuff wet ones with newspaper overnight, far from the "
    "stove.\n\n- Laces go first\n- Soles last 800 km. Then they are for the garden.\n"
)


@pytest.mark.parametrize(
    ("place", "marked"),
    [
        (0, "Brush them after every run."),
        (1, "Stuff wet ones with newspaper overnight, far from the stove."),
        (2, "Laces go first Soles last 800 km."),
        (9, None),
        (None, None),
    ],
)
def test_the_nearest_sentence_is_marked(place: int | None, marked: str | None) -> None:
    """Where meaning alone found the passage, its nearest sentence is marked, if it is known."""
    document, chunks = note(PARTS[0], PASSAGE)
    candidate = found_by(dense=0.02, position=1, sentence=place)
    shown = result_of(candidate, document, chunks, words("boat")).snippet
    assert re.findall("<mark>(.*?)</mark>", shown) == ([marked] if marked else [])
    assert visible(shown).strip("…") in one_line(plain(PASSAGE))


def test_words_are_marked_before_sentences() -> None:
    """A passage that holds the query's words shows these; so does one that words found."""
    document, chunks = note(PARTS[0], PASSAGE)
    for candidate, query in (
        (found_by(dense=0.02, position=1, sentence=0), "newspapers"),
        (found_by(0.02, sentence=0), "boat"),
    ):
        result = result_of(candidate, document, chunks, words(query))
        assert "Brush" not in "".join(re.findall("<mark>(.*?)</mark>", result.snippet))


def test_a_sentence_without_blanks_is_found() -> None:
    """Short sentences of a script without blanks were joined by one, and are marked as written."""
    text = "他买了一条旧木船，花了很多钱。第二天早上他就离开了这里。他再也没有回来过，谁也不知" * 2
    document, chunks = note(text, headings=False)
    candidate = found_by(dense=0.02, position=0, sentence=0)
    marked = re.findall("<mark>(.*?)</mark>", result_of(candidate, document, chunks, ()).snippet)
    assert marked
    assert marked[0] in text


def test_other_lane_or_first_passage_where_the_winner_has_none() -> None:
    """Without a passage of its own the winner shows the other lane's, else the first."""
    document, chunks = note(*PARTS)
    for candidate, lines in ((found_by(0.02, 0.01, position=1), (5, 7)), (found_by(0.02), (1, 3))):
        assert result_of(candidate, document, chunks, words("boat")).lines == lines


def test_carries_the_document_and_the_explanation() -> None:
    """Everything else comes from the document and the candidate unchanged; relevance is unknown."""
    updated = datetime(2025, 5, 18, tzinfo=UTC)
    document, chunks = note(
        *PARTS, path="a/b.md", url="https://e.org", tags=("x",), updated=updated
    )
    candidate = found_by(0.02, 0.01, position=0)
    result = result_of(candidate, document, chunks, words("race"))
    assert (result.id, result.collection, result.kind) == ("d", "c", document.kind)
    assert (result.path, result.url, result.tags) == ("a/b.md", "https://e.org", ("x",))
    assert (result.updated, result.score, result.relevance) == (updated, candidate.score, None)
    assert result.contributions == candidate.contributions


# -------------------------------------------------------------------------------- the snippet


def test_title_is_marked_and_escaped() -> None:
    """The title is shown as HTML with the query's words marked, and kept as it is beside."""
    document, chunks = note(*PARTS, title="Running <b> & races")
    result = result_of(found_by(0.02), document, chunks, words("race run"))
    assert result.title_html == "<mark>Running</mark> &lt;b&gt; &amp; <mark>races</mark>"
    assert result.title == "Running <b> & races"


def test_headings_of_the_path_are_left_out() -> None:
    """A heading that the heading path shows is not repeated in the snippet."""
    document, chunks = note(*PARTS)
    result = result_of(found_by(0.02), document, chunks, words("shoes"))
    assert result.snippet.startswith("Two pairs of <mark>shoes</mark>")


def test_only_leading_headings_of_the_path_are_left_out() -> None:
    """A heading that nothing else shows stays, and so does one after text; the title goes."""
    body = "# Half marathon\n\n## Shoes\n\nWe run.\n\n## Race day\n\nSlowly.\n"
    found = [(1, "Half marathon", 0), (2, "Shoes", 17), (2, "Race day", 36)]
    headings = tuple(Heading(level, text, 1, start) for level, text, start in found)
    document = Document("d", "c", "Half marathon", body, headings=headings)
    expected = {
        (): "Shoes We <mark>run</mark>. Race day Slowly.",
        ("Shoes",): "We <mark>run</mark>. Race day Slowly.",
        ("Shoes", "Race day"): "We <mark>run</mark>. Race day Slowly.",
    }
    for path, shown in expected.items():
        chunk = Chunk(0, 0, len(body), 1, 9, path, "en", 9, "", "")
        assert result_of(found_by(0.02), document, [chunk], words("run")).snippet == shown


def test_underlined_heading_is_left_out_with_its_line() -> None:
    """A heading written with a line of equals signs goes with that line."""
    document = Document(
        id="d", collection="c", title="t", body="Plan\n====\nWe run.\n",
        headings=(Heading(1, "Plan", 1, 0),),
    )  # fmt: skip
    chunks = [Chunk(0, 0, len(document.body), 1, 3, ("Plan",), "en", 9, "", "")]
    result = result_of(found_by(0.02), document, chunks, words("run"))
    assert result.snippet == "We <mark>run</mark>."


def test_heading_is_shown_if_only_it_holds_the_words() -> None:
    """A match in the passage's heading is shown where it is."""
    document, chunks = note("## Shoes\n\nTwo pairs, worn in turn.\n")
    result = result_of(found_by(0.02), document, chunks, words("shoe"))
    assert result.snippet == "<mark>Shoes</mark> Two pairs, worn in turn."


def test_passage_of_headings_only_is_shown() -> None:
    """A passage that is nothing but a heading is not shown empty."""
    document, chunks = note("## Shoes\n")
    assert result_of(found_by(dense=0.02, position=0), document, chunks, ()).snippet == "Shoes"


def test_match_outside_the_body_is_shown_where_it_is() -> None:
    """Tags come first, then description, summary, URL and alias."""
    fields: dict[str, Any] = {
        "tags": ("sea", "boats"),
        "description": "About boats.",
        "summary": "A boat in short.",
        "url": "https://e.org/boat?a=1&b=2",
        "aliases": ("Boating", "Sailing"),
    }
    expected = [
        "#sea #<mark>boats</mark>",
        "About <mark>boats</mark>.",
        "A <mark>boat</mark> in short.",
        "https://e.org/<mark>boat</mark>?a=1&amp;b=2",
        "<mark>Boating</mark>, Sailing",
    ]
    for shown, name in zip(expected, list(fields), strict=True):
        document, chunks = note(*PARTS, **fields)
        assert result_of(found_by(0.02, 0.01), document, chunks, words("boat")).snippet == shown
        del fields[name]


@pytest.mark.parametrize("fields", [{}, {"tags": ("compost",), "aliases": ("Compost heap",)}])
@pytest.mark.parametrize("body", ["# Compost\n\nA heap is a fire.\n", "A heap is a fire.\n"])
def test_the_title_is_not_said_again(body: str, fields: dict[str, Any]) -> None:
    """A match in the title is marked there; the snippet goes on with what the passage says."""
    document, chunks = note(body, title="Compost", **fields)
    result = result_of(found_by(0.02), document, chunks, words("compost"))
    assert result.title_html == "<mark>Compost</mark>"
    assert result.snippet == "A heap is a fire."


def test_a_heading_below_the_title_is_shown_without_it() -> None:
    """Only headings that hold the words and are not the title are shown before the text."""
    body = "# Shoes\n\n## Shoes for snow\n\nTwo pairs.\n"
    headings = (Heading(1, "Shoes", 1, 0), Heading(2, "Shoes for snow", 3, 9))
    document = Document("d", "c", "Shoes", body, headings=headings)
    chunk = Chunk(0, 0, len(body), 1, 5, ("Shoes", "Shoes for snow"), "en", 9, "", "")
    result = result_of(found_by(0.02), document, [chunk], words("shoe"))
    assert result.snippet == "<mark>Shoes</mark> for snow Two pairs."


def test_dense_passage_is_shown_even_if_tags_match() -> None:
    """Where the dense lane gave more, its passage is shown and not a tag."""
    document, chunks = note(*PARTS, tags=("boat",))
    result = result_of(found_by(0.01, 0.02, position=1), document, chunks, words("boat"))
    assert result.snippet.startswith("Two pairs of shoes")


def test_dense_hit_shows_the_beginning_of_its_passage() -> None:
    """Without the query's words a passage is shown from its beginning, cut between words."""
    document, chunks = note("Nothing.\n", "## Long\n\n" + "filler words " * 40)
    candidate = found_by(dense=0.02, position=1)
    shown = result_of(candidate, document, chunks, words("boat")).snippet
    assert shown == ("filler words " * 40)[:149].rstrip() + "…"


def test_words_in_a_dense_passage_are_marked() -> None:
    """The query's words are marked wherever they are, whichever lane won."""
    document, chunks = note(*PARTS)
    result = result_of(found_by(dense=0.02, position=1), document, chunks, words("shoe"))
    assert "<mark>shoes</mark>" in result.snippet


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"description": "About.", "summary": "Short.", "url": "https://e.org"}, "About."),
        ({"summary": "Short.", "url": "https://e.org"}, "Short."),
        ({"url": "https://e.org"}, "https://e.org"),
        ({"title": "Only a race"}, ""),
        ({"title": ""}, ""),
    ],
)
@pytest.mark.parametrize("parts", [(), ("\n \n",)])
def test_empty_body(parts: tuple[str, ...], fields: dict[str, Any], expected: str) -> None:
    """A document without text shows its description, summary or URL; its title stands above."""
    document, chunks = note(*parts, **{"title": "t", **fields})
    result = result_of(found_by(dense=0.02), document, chunks, words("race"))
    assert result.snippet == expected
    assert (result.lines is None) == (not parts)
    assert result.heading == ()


def test_length_bounds_what_is_seen() -> None:
    """The snippet has about 240 visible characters."""
    document, chunks = note("filler words and a race " * 60)
    result = result_of(found_by(0.02), document, chunks, words("race"))
    assert 210 <= len(visible(result.snippet)) <= 242


def test_quoted_words_are_marked() -> None:
    """The words of a quoted phrase are marked like any others."""
    document, chunks = note("Nothing.\n", "On race day eat early.\n")
    shown = result_of(found_by(0.02), document, chunks, words('"race day"')).snippet
    assert shown == "On <mark>race</mark> <mark>day</mark> eat early."


HOSTILE = (
    "<script>alert('run')</script>", "<mark>run</mark>", "&lt;", '"', "\x00", "\x1b[2J", "\u202e",
    "\u2066", "run", "Running", "бегом", "東京都庁", "[run](javascript:run)", "**run**", "# run",
    "`<b>`", "---", "\n", "\n\n", "…", "| a | b |", "$x$", "![[run]]", "race",
)  # fmt: skip
texts = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=8), max_size=40).map(" ".join)
queries = st.sampled_from(["run", "race 東京", "бег <mark>", "", "\x00"])


@given(texts, texts, texts, queries, st.booleans())
def test_any_note_gives_safe_and_true_html(
    body: str, title: str, tag: str, query: str, by_words: bool
) -> None:
    """Whatever a note holds, its HTML is escaped, marks are balanced, and the text is its own."""
    document, chunks = note(body, title=title, tags=(tag,), description=tag, headings=False)
    candidate = found_by(0.02) if by_words else found_by(dense=0.02, position=0)
    result = result_of(candidate, document, chunks, words(query))
    for shown in (result.snippet, result.title_html):
        assert not set(re.sub("</?mark>", "", shown)) & set("<>\"'\x00\x1b\n\u202e\u2066")
        assert re.fullmatch("([^<]*<mark>[^<]+</mark>)*[^<]*", shown)
    seen = visible(result.snippet)
    sources = [one_line(text) for text in (plain(body), f"#{tag}", tag, title)]
    parts = (seen, seen[1:], seen[:-1], seen[1:-1])
    assert any(part in source for part in parts for source in sources)
    assert visible(result.title_html) == one_line(title)
    assert result == result_of(candidate, document, chunks, words(query))
