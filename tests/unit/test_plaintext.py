"""Readable text from Markdown."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolane.text.plaintext import code_spans, fences, plain, plain_line


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("# Title #\n## Second", "Title\nSecond"),
        ("Title\n===\n\nSecond\n---", "Title\n\nSecond"),
        ("- a\n* b\n+ c\n1. d\n2) e\n  - f", "a\nb\nc\nd\ne\nf"),
        ("- [ ] open\n- [x] done", "open\ndone"),
        ("- [/] half\n- [-] dropped\n- [>] later\n- [1] Smith", "half\ndropped\nlater\n[1] Smith"),
        ("> quoted\n> > twice\n> - item", "quoted\ntwice\nitem"),
        ("tea[^1] from Japan[^a]\n\n[^1]: Green.", "tea from Japan\n\nGreen."),
        ("not [^0-9] nor `[^1]` nor a^b", "not [^0-9] nor [^1] nor a^b"),
        ("moved. ^office\n\n- one ^a1b2c3\n- two\n\n^303132", "moved.\n\none\ntwo"),
        ("x ^and\ny, n ^2", "x ^and\ny, n ^2"),
        ("> [!note] Callout\n> text", "Callout\ntext"),
        ("a\n\n---\n\nb\n***\n_ _ _", "a\n\nb"),
        ("| a | b |\n|---|:-:|\n| c \\| d | e |", "a   b\n\nc | d   e"),
        ("a | b\n--|--\nc | d", "a | b\n\nc | d"),
        ("**b** *i* ***bi*** __b__ _i_ ~~s~~ ==h==", "b i bi b i s h"),
        ("**outer *inner* outer**", "outer inner outer"),
        ("это **важно**, правда", "это важно, правда"),
        ("これは**重要**です", "これは重要です"),
        ("2*3*4 and snake_case_name and a * b * c", "2*3*4 and snake_case_name and a * b * c"),
        ("[words](http://a.b/c 'title') [x](<d e>) [y](f_(g))", "words x y"),
        ("[[Note]] [[Note#Part]] [[Note|words]] [[a#^block]]", "Note Note Part words a"),
        ("![alt](p.png) ![[picture.png|300]] [![in](p)](u)", "alt  in"),
        ("Tap **New** ( ![[plus.svg#icon]] ) now, ![[cat.png|A cat]]", "Tap New  now, A cat"),
        ("[words][ref] array[0][1]", "words array[0][1]"),
        ("see https://example.org/a_b_c?d=e_f now", "see https://example.org/a_b_c?d=e_f now"),
        ("<https://example.org> <me@example.org>", "https://example.org me@example.org"),
        ("a<br>b <b>bold</b> <span class='x'>c</span>", "a b bold c"),
        (
            "List<String> and <your name> and 1 < 2 > 0",
            "List<String> and <your name> and 1 < 2 > 0",
        ),
        (r"\*not\* \[a link\](b) \# \\", r"*not* [a link](b) # \\"[:-1]),
        ("&amp; &lt;b&gt; &#1103; &unknown; AT&T", "& <b> я &unknown; AT&T"),
        ("`a *b* [c](d)` ``e ` f``", "a *b* [c](d) e ` f"),
        ("```python\n# a *b*\nx = [[1]]\n```\n*c*", "# a *b*\nx = [[1]]\nc"),
        ("~~~\n> a\n~~~", "> a"),
        ("> ```\n> a\n> ```\n> b", "a\nb"),
        ("{{title}} #tag", "{{title}} #tag"),
        ("a\n\n\n\nb  \n  c", "a\n\nb\nc"),
        ("2024. A year is no list", "2024. A year is no list"),
        ("", ""),
    ],
)
def test_plain(markdown: str, text: str) -> None:
    """Markup goes, words and code stay, lines stay lines."""
    assert plain(markdown) == text


def test_a_line_keeps_its_beginning() -> None:
    """In a heading a number or a dash in front is text and not a list."""
    assert plain_line("1. *First* [[a|b]]\n`c  d`") == "1. First b c d"
    assert plain("1. *First*") == "First"


words = st.text(alphabet="abyzЖяё字0", min_size=1, max_size=8)


@given(st.lists(words, min_size=1, max_size=8))
def test_words_without_markup_stay(given_words: list[str]) -> None:
    """Text without markup is its own plain text."""
    text = " ".join(given_words)
    assert plain(text) == text


@given(st.lists(words, min_size=1, max_size=5), st.sampled_from(["**", "*", "_", "~~", "`", "=="]))
def test_marked_words_stay(given_words: list[str], mark: str) -> None:
    """Marks around words go and leave the words."""
    text = " ".join(f"{mark}{word}{mark}" for word in given_words)
    assert plain(text) == " ".join(given_words)


@given(st.text(alphabet="[]()!<>*_`~#-=|\\&;\n a1я\0", max_size=120))
def test_plain_never_raises_and_holds_nothing_back(markdown: str) -> None:
    """Any mixture of markup becomes text without a trace of how it was done."""
    text = plain(markdown)
    assert "\0" not in text
    assert text == text.strip()
    letters = sum(letter in "1я" for letter in text)
    assert letters <= sum(letter in "1я" for letter in markdown)


HOSTILE: dict[str, Callable[[int], str]] = {
    "brackets": lambda n: "[" * n,
    "flat brackets": lambda n: "[ " + "[a] " * (n // 4),
    "links": lambda n: "[a](b " * (n // 6),
    "titles": lambda n: "[a](b '" * (n // 7),
    "spaces in a link": lambda n: "[a](" + " " * n,
    "spaces": lambda n: "a" + " " * n + "b",
    "stars": lambda n: "*a " * (n // 3),
    "underscores": lambda n: "_a " * (n // 3),
    "tags": lambda n: "<b " * (n // 3),
    "addresses": lambda n: "<a:" * (n // 3),
    "entities": lambda n: "&a" * (n // 2),
    "backticks": lambda n: "".join("`" * i + " " for i in range(int((2 * n) ** 0.5))),
    "fences": lambda n: "```\n" * (n // 4),
    "rules": lambda n: "- " * (n // 2) + "x",
    "names of blocks": lambda n: " ^a" * (n // 3),
    "a name of a block": lambda n: " ^" + "1" * n + "!",
    "blanks before a name": lambda n: "a" + " " * n + "^",
    "footnotes": lambda n: "[^a" * (n // 3),
    "cells": lambda n: "|-" * (n // 2) + "x",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_plain_takes_linear_time(name: str) -> None:
    """200 kB of the worst takes a moment; quadratic time would be minutes."""
    markdown = HOSTILE[name](200_000)
    started = time.process_time()
    plain(markdown)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n```\nb\n```\nc", ["```\nb\n```"]),
        ("````\n```\n````", ["````\n```\n````"]),
        ("~~~ `x`\na\n~~~", ["~~~ `x`\na\n~~~"]),
        ("``` a ``` b", []),
        ("a ```\nb\n```", ["```"]),
        ("```\nnever closed", ["```\nnever closed"]),
        ("> ```\n> a\nb", ["> ```\n> a\n"]),
        ("- ```\n  a\n\n  b\nc", ["- ```\n  a\n\n  b\n"]),
        ("```\n~~~\n```\n~~~\na\n~~~", ["```\n~~~\n```", "~~~\na\n~~~"]),
    ],
)
def test_fences(text: str, expected: list[str]) -> None:
    """Fenced blocks end with their own fence, with what they stand in, or with the text."""
    assert [text[start:end] for start, end in fences(text)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a `b` c", ["`b`"]),
        ("`` a ` b `` c", ["`` a ` b ``"]),
        ("`a", []),
        ("`a\nb`", ["`a\nb`"]),
        ("`a\n\nb`", []),
        ("`a\n\n`b` c`", ["`b`"]),
        (r"\`a `b`", ["`b`"]),
        ("``a` `b``", ["``a` `b``"]),
    ],
)
def test_code_spans(text: str, expected: list[str]) -> None:
    """A span of code lies between runs of the same length in one paragraph."""
    assert [text[start:end] for start, end in code_spans(text)] == expected
