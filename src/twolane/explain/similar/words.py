"""Which words two documents share that few others hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping
from math import log

from twolane.ingest.chunking import plain
from twolane.ingest.chunking.boilerplate import parted
from twolane.model.candidate import DocumentTerms, Frequencies
from twolane.model.document import FIELDS, Document
from twolane.model.scope import Scope, Word
from twolane.ports.lexical import LexicalIndex
from twolane.ranking.bm25f import WEIGHTS, idf
from twolane.results.mentions import spellings
from twolane.text.tokens import is_function_word, stream, tokens

# Words that stand in a link's address but say nothing.
_IDLE = frozenset(("http", "https", "www", "com", "org", "net", "html", "md"))

_WEIGHTS = tuple(round(WEIGHTS[name]) for name in FIELDS)

# In a small vault a word that only few documents hold is in a large share of all.
_FEW_DOCUMENTS = 3


def counted(candidate: DocumentTerms) -> Counter[str]:
    """How much of the document each of its terms makes up; a title counts more than a body."""
    return Counter(
        {
            term: sum(weight * count for weight, count in zip(_WEIGHTS, counts, strict=True))
            for term, counts in candidate.frequencies.items()
            if _says_something(term)
        }
    )


def boilerplate_terms(
    document: Document, languages: Collection[str], boilerplate: Container[int]
) -> frozenset[str]:
    """The terms that stand nowhere in the document but in lines that many documents hold."""
    own = parted(document.body, boilerplate)
    if own is None:
        return frozenset()
    said = (document.title, *document.aliases, *document.tags, document.description)
    form = _stems((line for line, is_form in own.lines if is_form), languages)
    rest = (line for line, is_form in own.lines if not is_form)
    return form - _stems((*said, document.summary, *rest), languages)


def frequencies_of(lexical: LexicalIndex, terms: Iterable[str], scope: Scope) -> Frequencies:
    """How many documents of the scope's owner hold each of the terms."""
    return lexical.document_frequencies([_word(term) for term in sorted(terms)], scope)


def selective_terms(
    counts: Mapping[str, int], frequencies: Frequencies, common_share: float
) -> list[tuple[str, float]]:
    """The terms that say what a document is about, most selective first, with weights.

    A term that more than `common_share` of all documents hold is not selective.
    """
    most = max(_FEW_DOCUMENTS, common_share * frequencies.documents)
    weighed = [
        (term, idf(_word(term), frequencies) * log(1 + count))
        for term, count in counts.items()
        if frequencies.document_frequency.get(term, 0) <= most
    ]
    weighed.sort(key=lambda pair: (-pair[1], pair[0]))
    return weighed


def written(document: Document, languages: Collection[str], terms: Collection[str]) -> list[str]:
    """The terms as the document writes them, in the order of the terms; those it shows to readers.

    Function words and words that only stand in addresses are left out.
    """
    left = set(terms)
    forms: dict[str, str] = {}
    for text in _shown(document):
        for token in tokens(text):
            if not left:
                break
            for language in spellings(languages):
                for stem in stream(token.text, language).split():
                    if stem in left:
                        left.discard(stem)
                        forms[stem] = token.text
    kept = [forms[term] for term in terms if term in forms]
    return [form for form in dict.fromkeys(kept) if not is_function_word(form, languages)]


def _shown(document: Document) -> Iterable[str]:
    yield document.title
    yield "\n".join((*document.aliases, *document.tags, document.description, document.summary))
    yield plain(document.body)


def _stems(texts: Iterable[str], languages: Collection[str]) -> frozenset[str]:
    text = "\n".join(texts)
    return frozenset(
        stem for language in spellings(languages) for stem in stream(text, language).split()
    )


def _says_something(term: str) -> bool:
    # A pair of characters is a word in scripts without spaces, a syllable elsewhere.
    least = 3 if term.isascii() else 2
    return len(term) >= least and not term.isdigit() and term not in _IDLE


def _word(term: str) -> Word:
    return Word(term, (term,))
