"""How the memory store finds candidates by words, terms and letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from twolane.model import deadlines
from twolane.model.candidate import DocumentTerms, Frequencies, Match, Names
from twolane.model.document import FIELDS, Prepared, Stems
from twolane.model.scope import ANYWHERE, Scope, Word
from twolane.ports.lexical import Likeness
from twolane.stores.memory.matching import holds, in_scope, stream
from twolane.stores.memory.state import State
from twolane.stores.term_counts import TermCounter
from twolane.stores.vocabulary import Vocabulary
from twolane.text.names import lines
from twolane.text.substrings import NAMES, SHORTEST, fields_of, match_in, spelled


class MemoryLexical:
    """The `LexicalIndex` port over a shared state."""

    def __init__(self, state: State) -> None:
        self._state = state

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
        """Documents in scope that hold every word (or any): most words first, then by id."""
        least = len(words) if every else min(len(words), 1)
        with self._state.lock:
            found = []
            for prepared in self._state.visible():
                held = sum(holds(prepared.stems, word) for word in words)
                if held >= least and in_scope(prepared, scope):
                    found.append((held, prepared))
        found.sort(key=lambda pair: -pair[0])
        counter = TermCounter(words if count is None else count, sequence)
        return [_counted(counter, prepared) for _, prepared in found[:limit]]

    def term_frequencies(
        self,
        ids: Sequence[str],
        words: Sequence[Word] | None = None,
        sequence: Sequence[Word] | None = None,
    ) -> Mapping[str, DocumentTerms]:
        """The same for documents that were found in scope before, by id."""
        asked, counter = set(ids), TermCounter(words, sequence)
        with self._state.lock:
            held = [one for one in self._state.visible() if one.document.id in asked]
        return {one.document.id: _counted(counter, one) for one in held}

    def document_frequencies(self, words: Sequence[Word], scope: Scope) -> Frequencies:
        """Document frequency of each term and average field lengths, archived ones included."""
        theirs = [prepared.stems for prepared in self._state.within(scope.all_of_owner)]
        found = [prepared.stems for prepared in self._state.within(ANYWHERE)]
        frequency: dict[str, int] = {}
        for word in words:
            for key, term in zip(word.keys, word.terms, strict=True):
                deadlines.check()
                alone = Word(word.text, (term,), word.prefix)
                frequency[key] = sum(holds(stems, alone) for stems in theirs)
        lengths = {name: sum(len(stream(stems, name)) for stems in found) for name in FIELDS}
        averages = {name: total / len(found) if found else 0.0 for name, total in lengths.items()}
        return Frequencies(len(theirs), frequency, averages)

    def similar_terms(
        self, term: str, scope: Scope, likeness: Likeness, *, edits: int = 1, limit: int
    ) -> list[str]:
        """Terms of the owner's documents that are like this one, at most `limit`."""
        found = [prepared.stems for prepared in self._state.within(scope.all_of_owner)]
        terms = {one for stems in found for name in FIELDS for one in stream(stems, name)}
        return Vocabulary(sorted(terms)).like(term, likeness, edits=edits, limit=limit)

    def substring(self, text: str, scope: Scope, *, limit: int) -> list[Match]:
        """Documents in scope that hold the text letter by letter: names before texts, then ids."""
        needle = spelled(text)
        found = []
        for each in self._state.within(scope):
            if deadlines.is_over():
                # What was found until then is the answer.
                break
            fields = fields_of(each.document, needle=needle)
            if len(needle) < SHORTEST:
                fields = (field for field in fields if field[0] != "path")
            match = match_in(each.document.id, each.languages, needle, fields)
            if match is not None:
                found.append(match)
        found.sort(key=lambda match: match.field not in NAMES)
        return found[:limit]

    def named(self, pieces: Sequence[Sequence[str]], scope: Scope, *, limit: int) -> list[Names]:
        """Documents in scope whose names hold all pieces of one group, by id."""
        groups = [group for group in pieces if group and all(len(piece) > 2 for piece in group)]
        found = []
        for each in self._state.within(scope):
            document = each.document
            names = Names(
                document.id,
                each.languages,
                document.title,
                document.aliases,
                document.path,
                document.url,
            )
            spelling = lines(names)
            if any(all(piece in spelling for piece in group) for group in groups):
                found.append(names)
        return found[:limit]


def _counted(counter: TermCounter, prepared: Prepared) -> DocumentTerms:
    return counter.of(prepared.document.id, prepared.languages, _streams(prepared.stems))


def _streams(stems: Stems) -> list[str]:
    return [getattr(stems, name) for name in FIELDS]
