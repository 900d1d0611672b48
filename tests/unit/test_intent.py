"""Intent: the shapes of queries, row by row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolane.query.intent import Intent, classify


@pytest.mark.parametrize(
    ("query", "keyword", "why"),
    [
        ("", True, "nothing to embed"),
        ("   \t ", True, "nothing to embed"),
        ('"exact words here"', True, "surrounded by quotes"),
        ("'exact words here'", True, "surrounded by quotes"),
        ("cats AND dogs AND birds", True, "boolean operators"),
        ("cats OR dogs", True, "boolean operators"),
        ("cats NOT big dogs", True, "boolean operators"),
        ("NEAR(cats dogs, 5)", True, "boolean operators"),
        ("notes from 2024-03-05 meeting", True, "a date"),
        ("notes from 2024/03/05 meeting", True, "a date"),
        ("tea", True, "one word"),
        ("green tea", True, "two words"),
        ("my-page-slug", True, "a slug"),
        ("how to brew tea", False, "three words or more, no special pattern"),
        ("the best green tea", False, "three words or more, no special pattern"),
        ("Pros AND Cons of tea", True, "known limitation: capitals make operators"),
        ("pros and cons of tea", False, "small letters do not"),
    ],
)
def test_the_routers_table(query: str, keyword: bool, why: str) -> None:
    """Each row of the router's table, its known limitation included."""
    assert classify(query).keyword is keyword, why


@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("", Intent.EMPTY),
        ("«точные слова»", Intent.QUOTED),
        ("кошки AND собаки", Intent.BOOLEAN),
        ("2024-03-05", Intent.DATE),
        ("https://example.org/a/b?c=d", Intent.URL),
        ("github.com/anthropics", Intent.URL),
        ("example.org", Intent.URL),
        ("notes/garden/tomatoes.md", Intent.PATH),
        ("tomatoes.md", Intent.PATH),
        ("useAuth", Intent.SYMBOL),
        ("ts_rank", Intent.SYMBOL),
        ("BX-4410", Intent.SYMBOL),
        ("127.0.0.1", Intent.SYMBOL),
        ("std::vector", Intent.SYMBOL),
        ("my-page-slug", Intent.SLUG),
        ("моя-заметка", Intent.SLUG),
        ("помидоры", Intent.KEYWORDS),
        ("green tea", Intent.KEYWORDS),
        ("how do I prune tomatoes", Intent.QUESTION),
        ("как учёные ищут планеты", Intent.QUESTION),
        ("tomatoes turn brown, why?", Intent.QUESTION),
        ("pruning tomatoes in a greenhouse", Intent.SENTENCE),
        ("绿茶", Intent.KEYWORDS),
        ("绿茶 温度", Intent.KEYWORDS),
        ("如何修剪番茄", Intent.QUESTION),
        ("番茄为什么会变黄？", Intent.QUESTION),
        ("番茄每周修剪一次", Intent.SENTENCE),
        ("緑茶の温度は何度ですか", Intent.QUESTION),
        ("緑茶", Intent.KEYWORDS),
        ("ชาเขียวใช้น้ำร้อนเท่าไร", Intent.QUESTION),
        ("토마토 가지치기 방법은 뭐예요?", Intent.QUESTION),
    ],
)
def test_finer_shapes(query: str, intent: Intent) -> None:
    """Beyond the table: addresses, paths, symbols, questions, in both languages."""
    assert classify(query) is intent


@given(st.text())
def test_every_text_has_an_intent(text: str) -> None:
    """No text raises."""
    assert isinstance(classify(text), Intent)
