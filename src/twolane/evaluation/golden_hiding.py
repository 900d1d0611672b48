"""Leakage control: queries that do not give away the words of the note that they look for."""

from __future__ import annotations

from enum import StrEnum

from twolane.evaluation.golden_survey import Survey
from twolane.language import is_function_word, tokens, words_of


class Hiding(StrEnum):
    """What is done to the words of a query that its note would be found by at once."""

    NONE = "none"
    OWN = "own"
    STEMS = "stems"


def hidden(query: str, title: str, hiding: Hiding, survey: Survey) -> str | None:
    """The query without its leak, or None if nothing of use is left.

    - `none` leaves it as it is;
    - `own` drops every word whose stem the title of the note has in any language of the vault;
    - `stems` writes words in another form that the vault knows; a query of which no word
      has another form still leaks, so it is given up.
    """
    if hiding == Hiding.OWN:
        return _without(query, title, survey)
    if hiding == Hiding.STEMS:
        return _inflected(query, survey)
    return query


def _without(query: str, title: str, survey: Survey) -> str | None:
    own = {term for word in words_of(title, survey.languages) for term in word.terms}
    kept = [
        token.text
        for token in tokens(query)
        if not any(own & set(word.terms) for word in words_of(token.text, survey.languages))
    ]
    return " ".join(kept) if survey.content_words(" ".join(kept)) else None


def _inflected(query: str, survey: Survey) -> str | None:
    words = []
    changed = False
    for token in tokens(query):
        forms = survey.other_forms(token.text)
        if forms and not is_function_word(token.text, survey.languages):
            words.append(forms[0])
            changed = True
        else:
            words.append(token.text)
    return " ".join(words) if changed else None
