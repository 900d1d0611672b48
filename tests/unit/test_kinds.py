"""Notes, bookmarks and prompts: what of each can be found, and how."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import open_library, passages_of, space, write_notes
from twolane import Draft, Kind, Library
from twolane.ingest.chunking import (
    LEAD_TOKENS,
    chunk_document,
    embedded_text,
    estimate_tokens,
    lead_text,
)
from twolane.interfaces.mcp.texts import read
from twolane.model.document import Document, passage_digest

BOOKMARK = Draft(
    "b1",
    kind=Kind.BOOKMARK,
    url="https://github.com/anthropics/Caf%C3%A9-list?page=2",
    title="A list",
    description="Places with good espresso",
    summary="Where to sit and read",
    body="# Scraped\n\nOpening hours and addresses.",
)
PROMPT = Draft(
    "p1",
    kind=Kind.PROMPT,
    title="Polite letter",
    description="Declines an invitation",
    body="Write to {{recipient_name}}.",
    arguments=("recipient_name", "tone: how formal it is"),
)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """A library with one document of each kind."""
    with open_library(tmp_path / "x.db") as opened:
        opened.save_all([BOOKMARK, PROMPT, Draft("n1", title="Note", body="Something else.")])
        yield opened


@pytest.mark.parametrize(
    ("query", "id"),
    [
        ("github.com/anthropics", "b1"),
        ("https://github.com/anthropics", "b1"),
        ("café", "b1"),
        ("espresso", "b1"),
        ("sit and read", "b1"),
        ("opening hours", "b1"),
        ("url:anthropics", "b1"),
        ("invitations", "p1"),
        ("recipient_name", "p1"),
        ("formal", "p1"),
        ('"how formal"', "p1"),
    ],
)
def test_every_field_is_found(library: Library, query: str, id: str) -> None:
    """A word of the address, the description, the page or an argument finds its document."""
    first, *_ = library.search(query, mode="lexical").results
    assert first.id == id


def test_an_argument_that_matched_is_shown(library: Library) -> None:
    """Where only an argument holds the word, the snippet is the arguments."""
    first, *_ = library.search("formal", mode="lexical").results
    assert "how <mark>formal</mark>" in first.snippet


def test_an_agent_reads_what_stands_beside_the_text(library: Library) -> None:
    """The text of a bookmark comes with its address, that of a prompt with its arguments."""
    assert BOOKMARK.url in read(library.excerpt("b1"), 500)
    assert "arguments: recipient_name, tone" in read(library.excerpt("p1"), 500)


def test_what_a_bookmark_says_of_itself_is_a_passage(library: Library) -> None:
    """Description and summary have a vector of their own, beside those of the page."""
    lead, page = library.chunks(library.document("b1"))
    assert (lead.start, lead.end) == (0, 0)
    assert page.headings == ("Scraped",)
    library.embed()
    generation = library._stores.vectors.generations()[0].number
    hashes = set(passages_of(library._stores, generation))
    assert {lead.content_hash, page.content_hash} <= hashes
    found = library.search("Places with good espresso Where to sit and read", mode="semantic")
    assert found.results[0].id == "b1"
    assert "espresso" in found.results[0].snippet


def test_the_store_gives_out_what_was_hashed(library: Library) -> None:
    """The text that is claimed for a passage is the one that its content hash names."""
    generation = library._stores.vectors.open_generation(space())
    claimed = library._stores.queue.claim(generation.number, worker="w", limit=99, seconds=9)
    assert len(claimed) == 5
    for one in claimed:
        assert passage_digest(embedded_text(one.title, one.headings, one.text)) == one.content_hash


def test_a_lead_has_a_limit() -> None:
    """A description of any length gives one passage of bounded size, in any script."""
    for text in ("word " * 5000, "字" * 5000, "x" * 50_000):
        said = lead_text(text, "", ())
        assert 0 < estimate_tokens(said) <= LEAD_TOKENS
        document = Document("a", "c", "T", "", kind=Kind.BOOKMARK, description=text)
        (chunk,) = chunk_document(document, language_of=lambda _: None)
        assert chunk.tokens <= 450


def test_documents_without_text_do_not_lend_vectors() -> None:
    """Two bookmarks that have nothing but a title have nothing in common."""
    hashes = {
        chunk_document(Document(id, "c", id, ""), language_of=lambda _: None)[0].text_hash
        for id in ("Ants", "Bees")
    }
    assert len(hashes) == 2


def test_files_say_their_kind_and_arguments(tmp_path: Path) -> None:
    """Front matter makes a file a prompt or a bookmark, with arguments in any of their forms."""
    forms = {
        "list.md": "[text, words]",
        "line.md": "text words",
        "map.md": "{text: what to cut, words: }",
        "long.md": "[{name: text, description: what to cut, required: true}, {name: words}]",
    }
    vault = write_notes(
        tmp_path / "v",
        {
            name: f"---\nkind: prompt\narguments: {form}\n---\nCut {{{{text}}}}"
            for name, form in forms.items()
        },
    )
    with open_library(tmp_path / "x.db", "none") as library:
        library.index(vault)
        held = {name: library.document(name) for name in forms}
    assert {one.kind for one in held.values()} == {Kind.PROMPT}
    assert held["list.md"].arguments == held["line.md"].arguments == ("text", "words")
    assert held["map.md"].arguments == held["long.md"].arguments == ("text: what to cut", "words")
