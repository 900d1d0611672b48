"""Notes that are no UTF-8: which are read in an old encoding, and which are left alone."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twolane.ingest.parsing.decoding import decode
from twolane.model.problem import ProblemCode

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
