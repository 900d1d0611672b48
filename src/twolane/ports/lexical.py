"""The port of words: candidates with counts, frequencies, terms, and what is found by letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from twolane.model.candidate import DocumentTerms, Frequencies, Match, Names
from twolane.model.scope import Scope, Word


class Likeness(StrEnum):
    """How a term may be like another.

    Prefix: it begins with it. Part: it holds it. Sound: both are spelled alike by ear
    (`text.spelling.rough`).
    Edits: few letters were added, left out, replaced, or changed places.
    """

    PREFIX = "prefix"
    PART = "part"
    SOUND = "sound"
    EDITS = "edits"


class LexicalIndex(Protocol):
    """Finds candidates inside a scope; the limit counts documents and comes after the scope.

    Of terms and their frequencies only the owner of a scope counts, so that nobody is told what
    the documents of others hold.
    """

    def candidates(
        self,
        words: Sequence[Word],
        scope: Scope,
        *,
        every: bool,
        limit: int,
        count: Sequence[Word] | None = None,
        sequence: Sequence[Word] | None = None,
    ) -> list[DocumentTerms]:
        """Documents in scope that hold every word (or any, if not `every`), at most `limit`.

        They are told with how often each field holds the terms of the words, or of those to
        `count`; in detail with a `sequence`, as `term_frequencies` says.
        Without words, documents in scope.
        """

    def term_frequencies(
        self,
        ids: Sequence[str],
        words: Sequence[Word] | None = None,
        sequence: Sequence[Word] | None = None,
    ) -> Mapping[str, DocumentTerms]:
        """The same for documents that were found in scope before, by id; hidden ones are left out.

        Without words, for all terms that they hold.
        With a `sequence`, the query's words in order, they are told in detail: what each passage
        holds, and which words stand side by side.
        """

    def document_frequencies(self, words: Sequence[Word], scope: Scope) -> Frequencies:
        """The owner's documents, how many of them hold each term, and average field lengths.

        The lengths are everybody's: they say nothing of any word.
        """

    def similar_terms(
        self, term: str, scope: Scope, likeness: Likeness, *, edits: int = 1, limit: int
    ) -> list[str]:
        """Terms of the owner's documents that are like this one, at most `limit`.

        By prefix and by part the shortest come first, by edits the nearest, of which there may be
        so many; ties break by the term.
        """

    def substring(self, text: str, scope: Scope, *, limit: int) -> list[Match]:
        """Documents in scope that hold the text letter by letter, at most `limit`.

        Spellings are compared as in `text.substrings`, in every field that a person sees.
        Documents whose names hold it come before those whose texts do.
        A text of one or two signs is only found where a word begins, and not in paths.
        When the time of the question is over, those that were found until then.
        """

    def named(self, pieces: Sequence[Sequence[str]], scope: Scope, *, limit: int) -> list[Names]:
        """Documents in scope whose names may hold all pieces of one group, at most `limit`.

        Names are spelled as in `text.names`, one a line, so that a piece which begins or ends
        with a line break stands where a name begins or ends.
        A store may offer some that do not hold them, and none where a piece is shorter than
        three signs.
        """
