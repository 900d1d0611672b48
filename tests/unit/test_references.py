"""A reference in a golden set names the document that a search returned, or does not."""

from __future__ import annotations

import pytest

from twolane.evaluation.golden import (
    as_references,
    same_document,
)


@pytest.mark.parametrize(
    ("reference", "path"),
    [
        ("ru/zakvaska.md", "ru/zakvaska.md"),
        ("./ru/zakvaska.md", "ru/zakvaska.md"),
        ("ru/zakvaska", "ru/zakvaska.md"),
        ("/ru/zakvaska", "ru/zakvaska.md"),
        ("/ru/zakvaska/", "ru/zakvaska.markdown"),
        ("/ru/zakvaska.md", "ru/zakvaska.md"),
        ("/ru/zakvaska#step-2", "ru/zakvaska.md"),
        ("/ru/%D1%87%D0%B0%D0%B9", "ru/чай.md"),
        ("/half%20marathon", "half marathon.md"),
        ("/100%", "100%.md"),
        ("/c%23", "c#.md"),
        ("/ru/", "ru/index.md"),
        ("/", "index.md"),
        ("йод.md", "и\u0306од.md"),
        ("и\u0306од.md", "йод.md"),
        ("https://Example.com/a/#b", "https://example.com/a"),
        ("https://example.com/%D1%87", "https://example.com/ч"),
        ("http://[", "http://["),
        ("MED-10", "MED-10"),
    ],
)
def test_references_that_name_a_document(reference: str, path: str) -> None:
    """Paths, pages of a site, URLs and ids name the document that was found."""
    assert same_document(reference, path)
    assert as_references(["x", path], [reference]) == ["x", reference]


@pytest.mark.parametrize(
    ("reference", "path"),
    [
        ("ru/zakvaska.md", "en/zakvaska.md"),
        ("zakvaska.md", "ru/zakvaska.md"),
        ("ru/zakvaska.md", "ru/zakvaska.markdown"),
        ("/ru/zakvaska", "ru/Zakvaska.md"),
        ("/ru/zakvaska", "ru/zakvaska.txt"),
        ("/c", "c#.md"),
        ("a%20b.md", "a b.md"),
        ("https://example.com/a", "a.md"),
        ("https://example.com/a?page=1", "https://example.com/a?page=2"),
        ("https://example.com/a", "https://example.com/a.md"),
        ("/reindex", "reindex/x.md"),
        ("/re", "reindex.md"),
    ],
)
def test_references_that_name_another_document(reference: str, path: str) -> None:
    """Nearly is not the same."""
    assert not same_document(reference, path)
    assert as_references([path], [reference]) == [path]


def test_one_reference_stands_for_one_document() -> None:
    """Two documents never share a judgment: the one spelt like it wins, else the better ranked."""
    assert as_references(["a.markdown", "a.md"], ["/a"]) == ["/a", "a.md"]
    assert as_references(["a.md", "a"], ["a"]) == ["a.md", "a"]
