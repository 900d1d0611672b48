"""From the bytes of a note to a document: encoding, comments, title, headings, links, tags."""

from __future__ import annotations

import random
import time
import unicodedata
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from twolane.ingest.parsing.decoding import decode
from twolane.ingest.parsing.markdown import Parsed, inline_fields, parse_note
from twolane.ingest.parsing.outline import outline
from twolane.model.document import Document, Heading, TitleOrigin, digest
from twolane.model.problem import Problem, ProblemCode

MODIFIED = datetime(2025, 5, 18, 12, 0, tzinfo=UTC)


def parse(text: str | bytes, path: str = "folder/note.md") -> Parsed:
    """Parse a note of the collection `notes`."""
    data = text.encode() if isinstance(text, str) else text
    return parse_note(data, path=path, collection="notes", modified=MODIFIED)


def document(text: str | bytes, path: str = "folder/note.md") -> Document:
    """The document of a note that is text."""
    found = parse(text, path).document
    assert found is not None
    return found


def headings(text: str) -> list[tuple[int, str]]:
    """Level and text of the headings."""
    return [(heading.level, heading.text) for heading in document(text).headings]


def links(text: str) -> list[tuple[str, str, bool]]:
    """Target, anchor and kind of the links."""
    return [(link.target, link.anchor, link.wiki) for link in document(text).links]


def tags(text: str) -> tuple[str, ...]:
    """The tags."""
    return document(text).tags


# ------------------------------------------------------------------------------------- identity


def test_a_note_becomes_a_document() -> None:
    """Id, collection, path and times come from where the note lies and when it changed."""
    found = document("text", "a/b.md")
    assert (found.id, found.collection, found.path) == ("notes/a/b.md", "notes", "a/b.md")
    assert (found.created, found.updated) == (None, MODIFIED)
    assert (found.body, found.first_line) == ("text", 1)


def test_the_hash_is_that_of_the_whole_text() -> None:
    """The content hash covers front matter and body, and not the way the text was stored."""
    text = "---\na: b\n---\nтекст\n"
    assert document(text).content_hash == digest(text)
    assert document(text.replace("\n", "\r\n")).content_hash == digest(text)
    assert document(text.encode("utf-16")).content_hash == digest(text)
    assert document(text.replace("b", "c", 1)).content_hash != digest(text)


def test_an_empty_file_is_a_document_with_a_title() -> None:
    """A file without a byte is found by its name."""
    found = document(b"", "Ideas.md")
    assert (found.title, found.body, found.headings) == ("Ideas", "", ())


# ------------------------------------------------------------------------------------- decoding


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04\x00\x00 some text and more text",
        b"text " * 1000 + b"\0",
        bytes(range(128, 256)) * 20,
        bytes(range(1, 9)) * 100,
        "A\0\0B".encode("utf-16"),
        "Заметка в старой кодировке".encode("koi8-r"),
    ],
)
def test_binary_content_gives_no_document(data: bytes) -> None:
    """Bytes that are not text are one problem, and no document."""
    parsed = parse(data)
    assert parsed.document is None
    assert [problem.code for problem in parsed.problems] == [ProblemCode.BINARY]


def test_a_late_nul_is_replaced() -> None:
    """A NUL far into a text does not make it binary, and reaches no store."""
    found = document(b"a" * 9000 + b"\0b")
    assert found.body == "a" * 9000 + "\ufffdb"


def test_invalid_utf8_is_indexed_with_a_remark() -> None:
    """Mostly readable text is kept, and the problem names the line."""
    parsed = parse("first\nна\u00efve caf".encode() + "é and more text\n".encode("latin-1"))
    assert parsed.document is not None
    assert parsed.document.body == "first\nна\u00efve caf\ufffd and more text\n"
    (problem,) = parsed.problems
    assert (problem.path, problem.code) == ("folder/note.md", ProblemCode.NOT_UTF8)
    assert problem.reason.startswith("line 2 is not valid UTF-8")


def test_a_replacement_character_of_the_author_is_no_problem() -> None:
    """U+FFFD written as such is a character like any other."""
    assert parse("a � b").problems == ()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_byte_order_marks_are_understood_and_dropped(encoding: str) -> None:
    """UTF-8 with and without a mark and UTF-16 with one give the same text."""
    mark = "\ufeff" if encoding in ("utf-16-le", "utf-16-be") else ""
    parsed = parse((mark + "# Заметка\n").encode(encoding))
    assert parsed.problems == ()
    assert parsed.document is not None
    assert parsed.document.body == "# Заметка\n"


def test_line_ends_become_lf() -> None:
    """CRLF and CR are line ends like LF, and lines count the same."""
    found = document("a\r\n\r\n# B\rc\n")
    assert found.body == "a\n\n# B\nc\n"
    assert found.headings == (Heading(1, "B", 3, 3),)


def test_text_is_composed() -> None:
    """Body, title, headings and tags are NFC whatever the file's Unicode form is."""
    text = "# Ёж и йод\n\n[[Ёлка]] #ёжик\n"
    found = document(unicodedata.normalize("NFD", text))
    assert found.body == text
    assert (found.title, found.tags, found.links[0].target) == ("Ёж и йод", ("ёжик",), "Ёлка")


@given(st.text(alphabet="aй字か\u3099\u0301\u0323\u0306 \n\u1100\u1161\u11a8", max_size=1500))
def test_composition_in_pieces_is_composition(text: str) -> None:
    """Composing piece by piece gives what composing the whole text gives."""
    assert document("x" + text).body == unicodedata.normalize("NFC", "x" + text)


# ------------------------------------------------------------------------------------- comments


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("a <!-- b --> c", "a  c"),
        ("a %% b %% c", "a  c"),
        ("a\n<!--\nb\n\nc\n-->\nd", "a\n\n\n\n\n\nd"),
        ("a\n%%\nb\n%%\nd", "a\n\n\n\nd"),
        ("<!-- %% --> a %% b %%", " a "),
        ("%% <!-- %% a -->", " a -->"),
        ("a <!--> b", "a  b"),
        ("`<!-- a -->` `` %% ` %% ``", "`<!-- a -->` `` %% ` %% ``"),
        ("```\n<!-- a -->\n%% b %%\n```\n%%c%%", "```\n<!-- a -->\n%% b %%\n```\n"),
        ("~~~ html\n<!-- a -->\n~~~\n", "~~~ html\n<!-- a -->\n~~~\n"),
        ("> ```\n> %% a %%\n\n%% b %%", "> ```\n> %% a %%\n\n"),
        ("- ```\n  %% a %%\n  ```\n- %% b %%", "- ```\n  %% a %%\n  ```\n- "),
        ("<!-- ``` --> a <!-- ``` -->", " a "),
        ("a ` <!-- b ` c -->", "a ` <!-- b ` c -->"),
        ("a ` b\n\n<!-- ` -->", "a ` b\n\n"),
        (r"\<!-- a --> \%% b", r"\<!-- a --> \%% b"),
        ("a <!-- never closed", "a <!-- never closed"),
        ("50%% <!-- x -->", "50%% "),
        ("{{title}} {% raw %}", "{{title}} {% raw %}"),
    ],
)
def test_comments_are_dropped_outside_code(text: str, body: str) -> None:
    """Comments vanish except for their line ends; code and what is never closed stay."""
    assert document(text).body == body


def test_what_is_in_a_comment_is_not_found() -> None:
    """A commented heading, link or tag is none."""
    found = document("<!-- # H\n\n[[a]] #b -->\n%%\n# I\n[c](d) #e\n%%\n# J\n")
    assert [heading.text for heading in found.headings] == ["J"]
    assert (found.links, found.tags, found.headings[0].line) == ((), (), 8)


@given(st.text(alphabet="a`~\n<!->% \\", max_size=80))
def test_dropping_comments_keeps_the_lines(text: str) -> None:
    """However comments and code are mixed, no line is lost or won."""
    whole = "x" + text
    body = document(whole).body
    assert body.count("\n") == whole.count("\n")
    assert len(body) <= len(whole)


# ---------------------------------------------------------------------------------------- title


@pytest.mark.parametrize(
    ("text", "title", "origin"),
    [
        ("---\ntitle: Given\n---\n# Heading", "Given", TitleOrigin.PROPERTY),
        ("---\ntitle: ''\n---\n# Heading", "Heading", TitleOrigin.HEADING),
        ("## Second\n\n# The *first* `H1`\n\n# Other", "The first H1", TitleOrigin.HEADING),
        ("Under\nlined\n===", "Under lined", TitleOrigin.HEADING),
        ("#\n\n## Second", "v1.2 day", TitleOrigin.PATH),
        ("> # Quoted", "v1.2 day", TitleOrigin.PATH),
        ("```\n# code\n```", "v1.2 day", TitleOrigin.PATH),
    ],
)
def test_the_title_has_an_order_of_origins(text: str, title: str, origin: TitleOrigin) -> None:
    """Front matter comes before the first heading of level one, and that before the name."""
    found = document(text, "2025/v1.2 day.md")
    assert (found.title, found.title_origin) == (title, origin)


# ------------------------------------------------------------------------------------- headings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\n## B ##\n###### C", [(1, "A"), (2, "B"), (6, "C")]),
        ("A\n=\n\nB\n---", [(1, "A"), (2, "B")]),
        ("   # Three spaces\n\n    # Four", [(1, "Three spaces")]),
        ("#No space\n\n####### Seven", []),
        ("# **Bold** [link](u) [[a|b]] `c*d*` <b>e</b> \\# &amp;", [(1, "Bold link b c*d* e # &")]),
        ("# 1. First\n# - dash", [(1, "1. First"), (1, "- dash")]),
        ("#\n# ", []),
        ("```\n# a\n```\n~~~\n# b\n~~~\n    # c", []),
        ("- ```\n  # a\n  ```\n\n# b", [(1, "b")]),
        ("> # a\n- # b\n\n# c", [(1, "c")]),
        ("<div>\n# a\n</div>\n\n# b", [(1, "b")]),
        ("| # | b |\n|---|---|\n| 1 | 2 |\n", []),
        ("# Ёж\tи  уж", [(1, "Ёж и уж")]),
    ],
)
def test_headings(text: str, expected: list[tuple[int, str]]) -> None:
    """Headings of both kinds have a level and plain text; in code and containers they are none."""
    assert headings(text) == expected


def test_headings_know_their_line_and_offset() -> None:
    """The line is the file's and the offset the body's, also after front matter and comments."""
    text = "---\na: b\n---\n<!-- c\nd -->\n# One\n\nTwo\n---\n\n  ## Three\n"
    found = document(text)
    lines = text.split("\n")
    assert [heading.text for heading in found.headings] == ["One", "Two", "Three"]
    for heading in found.headings:
        assert heading.text in lines[heading.line - 1]
        assert found.body[heading.start :].lstrip().lstrip("# ").startswith(heading.text)
        assert found.body[: heading.start].endswith("\n")
    assert found.first_line == 4


LINES = (
    "# a", "## b", "c", "===", "---", "", "- d", "  # e", "```", "~~~", "> f", "> # g", "    # h",
    "- ```", "  ```", "> ```", "| i | j |", "|---|---|", "<div>", "</div>", "1. k", "\t# l",
)  # fmt: skip


@given(st.lists(st.sampled_from(LINES), max_size=14))
def test_headings_are_those_of_markdown_it(lines: list[str]) -> None:
    """Blocks are found by markdown-it with all its rules, so the headings are the standard's."""
    text = "x\n\n" + "\n".join(lines)
    reader = MarkdownIt("commonmark").enable("table")
    tokens = reader.parse(text)
    expected = [
        (int(token.tag[1:]), token.map[0] + 1)
        for token, content in pairwise(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map and content.content
    ]
    found = document(text)
    assert [(heading.level, heading.line) for heading in found.headings] == expected


@given(
    st.text(alphabet="#  a*-+>1.)[](|:=`_\\\n\n\u00a0\u2028", max_size=60)
    | st.lists(
        st.sampled_from(
            ("# a", "## b ##", "#c", "# d#", "#", "e", "", "- f", "> g", "  h", "1. i")
        ),
        max_size=14,
    ).map("\n".join)
)
def test_the_quick_way_finds_what_the_parser_finds(body: str) -> None:
    """Where markdown-it is not asked, it would have said the same; code at the end has it asked."""
    assert outline(body, first_line=3) == outline(f"{body}\n\n~~~\n", first_line=3)


# ---------------------------------------------------------------------------------------- links


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[Note]]", [("Note", "Note", True)]),
        ("[[Note#Part|words]]", [("Note#Part", "words", True)]),
        ("[[ Other ]]", [("Other", "Other", True)]),
        ("![[embedded]]", [("embedded", "embedded", True)]),
        ("| [[a\\|b]] |", [("a", "b", True)]),
        ("[words](target.md)", [("target.md", "words", False)]),
        ('[a](b "title") [c](<d e>)', [("b", "a", False), ("d e", "c", False)]),
        ("[f](g_(h))", [("g_(h)", "f", False)]),
        ("[**bold** `code`](u)", [("u", "bold code", False)]),
        ("[a [b] c](u)", [("u", "a [b] c", False)]),
        ("![picture](p.png)", []),
        ("[![alt](p.png)](u)", [("u", "alt", False)]),
        ("<https://a.org/b>", [("https://a.org/b", "https://a.org/b", False)]),
        ("[words][ref] [no]\n\n[REF]: http://u", [("http://u", "words", False)]),
        ("[Ref][] or [ref]\n\n[ref]: u", [("u", "Ref", False), ("u", "ref", False)]),
        ("`[[a]]` ``[b](c)``\n\n```\n[[d]]\n```\n\n    [[e]]", []),
        (r"\[a](b) \[[c]]", []),
        ("[[]] [[ ]] []() [a]( b c )", []),
        ("[[a]] [[a]] [[a|b]]", [("a", "a", True), ("a", "b", True)]),
        ("[[Ёлка]] [ёж](ёж.md)", [("Ёлка", "Ёлка", True), ("ёж.md", "ёж", False)]),
    ],
)
def test_links(text: str, expected: list[tuple[str, str, bool]]) -> None:
    """Wiki-links, embeds and Markdown links are found once each, and none in code."""
    assert links(text) == expected


# ----------------------------------------------------------------------------------------- tags


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#tag", ("tag",)),
        ("a #one, #two; (#three) **#four** end #five.", ("one", "two", "three", "four", "five")),
        (
            "#nested/tag/deep #with-dash #under_score",
            ("nested/tag/deep", "with-dash", "under_score"),
        ),
        ("#бег #日記 #café #हिन्दी #🎉", ("бег", "日記", "café", "हिन्दी", "🎉")),
        ("#Tag #tag #TAG", ("Tag",)),
        ("#123 #2024/05 #1 #-- #_", ()),
        ("#1984-book #y2024", ("1984-book", "y2024")),
        ("a#b c##d ##e #", ()),
        ("# Heading #inside\n\n## #second", ("inside", "second")),
        ("https://a.b/#frag http://a.b/c(#d www.a.b/(#e", ()),
        ("[a](#b) [[#c]] [[d#e|#f]] <https://a.b/(#g)>", ()),
        ("`#a` ``#b``\n\n```\n#c\n```\n\n    #d", ()),
        ("\\#a", ()),
        ("<style>\n #a {}\n</style>", ()),
        ('<a href="#top">x</a>', ()),
        ("|#cell| #b |", ("cell", "b")),
        ("#a/ #b-", ("a", "b")),
    ],
)
def test_inline_tags(text: str, expected: tuple[str, ...]) -> None:
    """Tags of any script count in prose, once each; numbers, code, URLs and links hold none."""
    assert tags(text) == expected


def test_tags_of_front_matter_come_first() -> None:
    """Both kinds are one list without repetitions, in order of appearance."""
    assert tags("---\ntags: [Plan, бег]\n---\n#plan #Новое #БЕГ") == ("Plan", "бег", "Новое")


# -------------------------------------------------------------------------------------- hostile


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    """Any bytes give a document or a problem."""
    parsed = parse(data)
    assert parsed.document is not None or parsed.problems


PIECES = (*"[]()!<>*_`~#-=|\\:\"'&;%{}\n\t a1яё字\u0301", "---\n", "http://", "[[", "a: b\n")
markup = st.lists(st.sampled_from(PIECES), max_size=200).map("".join)


@settings(max_examples=300)
@given(markup, st.booleans())
def test_no_markup_raises(text: str, front: bool) -> None:
    """Any mixture of markup gives a document whose parts lie inside it."""
    whole = f"---\n{text}\n---\n{text}" if front else text
    found = document(whole)
    for heading in found.headings:
        assert 0 <= heading.start < len(found.body)
        assert 1 <= heading.line <= whole.count("\n") + 1
    for tag in found.tags:
        assert tag
        assert "#" not in tag
    assert all(link.target and link.anchor for link in found.links)


HOSTILE: dict[str, Any] = {
    "brackets": lambda n: "[" * n,
    "wiki brackets": lambda n: "[[a" * (n // 3),
    "nested links": lambda n: "[" * (n // 5) + "](b)" * (n // 5),
    "nested pictures": lambda n: "![" * (n // 6) + "](b)" * (n // 6),
    "open links": lambda n: '[a](b "' * (n // 7),
    "stars": lambda n: "*" * n,
    "emphasis": lambda n: "*a _b " * (n // 6),
    "backticks": lambda n: "`" * n,
    "growing backticks": lambda n: "".join("`" * i + " " for i in range(int((2 * n) ** 0.5))),
    "backticks in a line": lambda n: "x ```a " * (n // 7) + "%%",
    "quotations": lambda n: "> " * (n // 2),
    "deep quotations": lambda n: (">" * 50 + " a\n") * (n // 53),
    "lists": lambda n: "- " * (n // 2),
    "comments": lambda n: "<!-- " * (n // 5),
    "angles": lambda n: "<" * n,
    "hashes": lambda n: "#" * n,
    "tags": lambda n: "(#a" * (n // 3),
    "fences": lambda n: "```\n" * (n // 4),
    "spaces": lambda n: "a" + " " * n + "b",
    "accents": lambda n: "a" + "\u0301\u0323" * (n // 4),
    "front matter": lambda n: "---\n" + "[" * n + "\n---\n",
    "dashes": lambda n: "---\n" + "- " * (n // 2) + "\n---\n",
    "pipes": lambda n: "|" * n,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_notes_take_linear_time(name: str) -> None:
    """200 kB of the worst is read in a moment; quadratic time would be minutes."""
    data = HOSTILE[name](200_000).encode()
    started = time.process_time()
    parsed = parse(data)
    assert time.process_time() - started < 5
    assert parsed.document is not None


def test_a_problem_is_about_the_file() -> None:
    """Problems carry the path that was given."""
    assert parse(b"\0", "a/b.md").problems == (
        Problem("a/b.md", ProblemCode.BINARY, "it is not a text file: it holds NUL bytes"),
    )


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("status:: done", {"status": "done"}),
        ("- **Due Date**:: 2026-03-01", {"due-date": "2026-03-01"}),
        ("rating:: 4\n\nprice:: 2.5\n\nread:: true", {"rating": 4, "price": 2.5, "read": True}),
        ("I met [who:: [[Ann|Anna]]] (mood:: good) there", {"who": "Anna", "mood": "good"}),
        ("tag:: a\ntag:: b", {"tag": ["a", "b"]}),
        ("статус:: готово", {"статус": "готово"}),
        ("use std::vector and a::b", {}),
        ("`x:: y` and\n\n```\nkey:: value\n```\n", {}),
        ("key::", {}),
        ("day:: 2026-99-99", {"day": "2026-99-99"}),
    ],
)
def test_what_is_a_field(text: str, fields: dict[str, object]) -> None:
    """Lines, list items and brackets; numbers, days and truth values are such; code is not."""
    assert inline_fields(text) == fields


def test_front_matter_goes_first() -> None:
    """What it says is not overruled by the text."""
    data = b"---\nstatus: open\n---\nstatus:: done\n\nrating:: 5\n"
    parsed = parse_note(
        data, path="a.md", collection="c", modified=datetime(2026, 1, 1, tzinfo=UTC)
    )
    assert parsed.document is not None
    assert dict(parsed.document.properties) == {"status": "open", "rating": 5}


@given(st.text(alphabet="ab:[]()` \n*->#1"))
def test_no_text_raises(text: str) -> None:
    """Whatever stands in a note."""
    assert isinstance(inline_fields(text), dict)


RUSSIAN = "Сегодня купил чай. Ёлка стоит у окна, а кот спит № 5 — «тихо»."
FRENCH = "L'été dernier, à Paris, le garçon a mangé une crêpe. « Où ? » — près du château."


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("1251", RUSSIAN),
        ("1251", "Сьогодні купив чай. Їжак їсть яблуко, а кіт спить."),
        ("1251", "Днес купих чай и хляб от магазина."),
        ("1251", "Long notes of a meeting about Kubernetes and DNS. Встреча прошла хорошо."),
        ("1251", "---\ntags: [чай]\n---\n# Чай и мёд\n"),
        ("1252", FRENCH),
        ("1252", "Über die Brücke zum Schloß. Äpfel und Öl kosten fünf €."),
        ("1252", "¿Dónde está el niño? Mañana comeré jamón."),
        ("1252", "Não há solução para a questão da educação."),
        ("1252", "Jag gillar smörgås på en ö i Åbo. Å, så fint!"),
        ("1252", "An okapi in a café."),
    ],
)
def test_letters_within_words_tell_the_encoding(page: str, text: str) -> None:
    """Words of Cyrillic letters beside any amount of English, or accents in Latin words."""
    decoded = decode(text.encode(f"cp{page}"))
    assert (decoded.text, decoded.code) == (text, ProblemCode.NOT_UTF8)
    assert decoded.reason.startswith(f"it is not UTF-8, and was read as windows-{page}")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (RUSSIAN, "koi8-r"),
        (RUSSIAN, "cp866"),
        (RUSSIAN, "iso8859-5"),
        ("Καλημέρα, ο ήλιος λάμπει σήμερα και η θάλασσα είναι ήσυχη.", "cp1253"),
        ("Zażółć gęślą jaźń. Łódź jest piękna, a wróbel ćwierka.", "cp1250"),
        ("İstanbul'da güneşli bir gün, değil mi? Ağaç yeşil.", "cp1254"),
        ("שלום עולם זה טקסט בעברית", "cp1255"),
    ],
)
def test_other_encodings_are_left_alone(text: str, encoding: str) -> None:
    """What would come out as other words is not read as words."""
    decoded = decode(text.encode(encoding, "ignore"))
    assert "was read as" not in decoded.reason
    assert decoded.code is not None


@given(st.text(max_size=300))
def test_valid_utf8_is_never_anything_else(text: str) -> None:
    """Whatever can be read as UTF-8 is read so, without a remark."""
    decoded = decode(text.encode("utf-8"))
    assert decoded.code in (None, ProblemCode.BINARY)
    assert "was read as" not in decoded.reason


@given(
    st.sampled_from([RUSSIAN, FRENCH, "чай — 'tea', naïve café"]),
    st.lists(st.tuples(st.integers(0, 10**6), st.binary(max_size=1)), min_size=1, max_size=4),
)
def test_a_few_broken_bytes_leave_utf8(text: str, broken: list[tuple[int, bytes]]) -> None:
    """Bytes that are lost or replaced do not make another encoding of a note in UTF-8."""
    data = bytearray(text.encode("utf-8") * 4)
    for place, other in broken:
        at = place % len(data)
        data[at : at + 1] = other
    decoded = decode(bytes(data))
    assert "was read as" not in decoded.reason
    assert decoded.text is None or "\ufffd" in decoded.text or decoded.code is None


@pytest.mark.parametrize("stray", [b"\xff", b"\xfe\xff", b"\xe2\x80", b"\xc3", b"\x80", b"\xd0"])
@pytest.mark.parametrize("around", ["don%st", "end%s of", "a %s b"])
def test_stray_bytes_in_plain_english_are_marked(stray: bytes, around: str) -> None:
    """Pieces of UTF-8 and bytes that no letter has are marked as such."""
    decoded = decode(b"Plain English. " * 5 + around.encode() % stray)
    assert "was read as" not in decoded.reason
    assert "\ufffd" in (decoded.text or "")


@pytest.mark.parametrize("lowest", [1, 32])
def test_binary_files_stay_binary(lowest: int) -> None:
    """Bytes without any order are no text, with control characters among them or without."""
    dice = random.Random(7)
    for _ in range(20):
        data = bytes(dice.randrange(lowest, 256) for _ in range(1000))
        assert decode(data).code == ProblemCode.BINARY
    assert decode(b"\xff\xe2" * 1000).code == ProblemCode.BINARY
    assert decode("Листья и трава".encode("cp1251") + b"\0\1").code == ProblemCode.BINARY
