"""Where the words of a query stand in a text."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from twolane.model.scope import Word
from twolane.results.highlighting import mentions, sought
from twolane.text.tokens import terms_of, tokens, words_of

# Words whose English stems are exceptions, or end in other letters than they do.
IRREGULAR = (
    "skis skies sky dying lying tying vying idly gently ugly early only singly news atlas bias"
    " cry cries cried tie ties tied hoping hopping hope ability possibility possible possibly"
    " relational conditional valency hesitancy organization operator feudalism decisiveness"
    " hopefulness formality sensitivity geology geologist agreed agreeing succeed proceed evening"
)
SUFFIXES = (
    "s es ies ied ed eed edly ing ingly ying y ly tional ency ancy ably ently izer ization ational"
    " ation ator alism ality ally fulness ously iveness ivity bility bly ogy ogist fully lessly"
    " icate ative alize icity ical ness ance able ible ement ment ism ate ous ive ize ion e l ble"
).split()
ENDINGS = "ами ого ему ующий ейше ость ованный нн ешь ть вшись и ь ю ями ях её".split()
# Signs that fold in every other way, that join words or part them, and that no stem holds.
SIGNS = [
    *"'’ʼ_-.,#+…№µЁёй́½ﬁé中あ",
    "\u0301",
    "\u3099",
    "Ｆ",
    "C++",
    "c#",
    "\xa0",
    "\xad",
    "Ґґ",
    "7",
]
WORDS = [*IRREGULAR.split(), "useAuth", "HTTPServer2beta", "o'clock", "l'eau", "dog's", "Wi-Fi"]
RUSSIAN = ["ёлка", "Елками", "за́мок", "дневник", "ДНЕВНИКОМ", "наилучший", "поёт", "github'ом"]

parts = st.sampled_from(SUFFIXES + ENDINGS + SIGNS + WORDS + RUSSIAN) | st.text(
    "abelyiко", max_size=4
)
words = st.lists(parts, min_size=1, max_size=3).map("".join)
texts = st.lists(words, max_size=25).map(" ".join)


@given(texts, st.lists(words, min_size=1, max_size=3), st.booleans())
@example("the skies of the possibilities", ["sky", "possible"], False)
@example("dying o'clock", ["die", "oclock"], False)
@example("he aяhoping", ["aяhope"], True)
@example("5 µm", ["μm"], False)
@example("useAuth2beta", ["beta"], False)
@example("PDFный github'ий", ["PDFный", "githubий"], False)
def test_every_word_with_a_sought_stem_is_found(text: str, query: list[str], prefix: bool) -> None:
    """The mentions of a text are its tokens with a stem that was sought, each of them."""
    asked = [one for each in query for one in words_of(each, ["en", "ru"])]
    wanted = sought([Word(one.text, one.terms, prefix) for one in asked])
    expected = {
        (token.start, token.end)
        for token in tokens(text)
        if any(wanted.answered_by(stem) for (stem,) in terms_of(token.text, [None]))
    }
    found = mentions(text, wanted, [None])
    covered = {(one.start, one.end) for one in found}
    # In scripts without spaces a mention is a part of a token.
    assert {span for span in expected if not _overlaps(span, covered)} == set()
    assert {span for span in covered if not _overlaps(span, expected)} == set()


def _overlaps(span: tuple[int, int], spans: set[tuple[int, int]]) -> bool:
    return any(start < span[1] and span[0] < end for start, end in spans)
