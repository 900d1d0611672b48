"""A query together with other wordings of it, which whoever asks may know better than we do.

An agent that searches for somebody knows what it looks for: it can name the two or three words
that must be there, say the question in other words, or imagine the answer.
Each wording is one more ranking: it brings its documents, and how much more it says for a document
than the query does is one more feature, whose weight is how far the document moves towards that.
"""

from __future__ import annotations

from twolane.model import deadlines
from twolane.model.answer import Feature, Mode
from twolane.model.scope import Scope
from twolane.model.values import dataclass
from twolane.query.intent import Intent
from twolane.ranking.rankings import Ranking, Wordings
from twolane.ranking.search import Searcher

# What has one of these shapes names its document; other words could only blur it.
NAMES = frozenset(
    {
        Intent.QUOTED,
        Intent.BOOLEAN,
        Intent.DATE,
        Intent.URL,
        Intent.PATH,
        Intent.SYMBOL,
        Intent.SLUG,
    }
)


@dataclass(frozen=True, slots=True)
class Phrasings:
    """Other wordings of a query; empty ones are not there.

    `short_query` is a few words that should occur, `rephrased_query` the question in other words,
    `expected_answer` a sentence as it may stand in the note.
    """

    short_query: str = ""
    rephrased_query: str = ""
    expected_answer: str = ""

    def __bool__(self) -> bool:
        return bool(self.short_query or self.rephrased_query or self.expected_answer)


def rank_phrasings(
    searcher: Searcher,
    text: str,
    phrasings: Phrasings,
    scope: Scope,
    *,
    mode: Mode,
    limit: int,
) -> Ranking:
    """The ranking by the query and its other wordings."""
    query = searcher.analyze(text, scope, mode=mode)
    found: dict[Feature, Ranking] = {}
    if query.intent not in NAMES:
        for feature, wording, way in _wordings(phrasings, mode):
            # The query's own filters and demands hold for every wording of it.
            if not deadlines.is_over():
                found[feature] = searcher.rank(
                    wording, query.scope, mode=way, limit=limit, reranked=False
                )
    rankings = {feature: one for feature, one in found.items() if one.candidates}
    wordings = Wordings(rankings) if rankings else None
    return searcher.rank(text, scope, mode=mode, limit=limit, query=query, wordings=wordings)


def _wordings(phrasings: Phrasings, mode: Mode) -> list[tuple[Feature, str, Mode]]:
    """Each wording with the lanes that it is made for, of those that are wanted."""
    if mode == Mode.EXACT:
        return []
    wordings = []
    if phrasings.short_query and mode != Mode.SEMANTIC:
        wordings.append((Feature.SHORT_QUERY, phrasings.short_query, Mode.LEXICAL))
    if phrasings.rephrased_query:
        wordings.append((Feature.REPHRASED_QUERY, phrasings.rephrased_query, mode))
    if phrasings.expected_answer and mode != Mode.LEXICAL:
        wordings.append((Feature.EXPECTED_ANSWER, phrasings.expected_answer, Mode.SEMANTIC))
    return wordings
