"""What operators, exclusions, nearness and fields demand."""

from __future__ import annotations

import pytest

from tests.unit.queries import p, q, query, texts
from twolane.model.document import Kind
from twolane.model.scope import All, Clause, Either, InField, Near, Phrase, Without, Word


class TestOperators:
    """Boolean queries are one hard demand."""

    @pytest.mark.parametrize(
        ("text", "clause"),
        [
            ("Pros AND Cons", All((p("Pros"), p("Cons")))),
            ("a OR b", Either((p("a"), p("b")))),
            ("NOT a", Without(p("a"))),
            ("a NOT b", All((p("a"), Without(p("b"))))),
            ("NOT NOT a", p("a")),
            ("NOT -a", p("a")),
            ("a b OR c", Either((All((p("a"), p("b"))), p("c")))),
            ("a OR b AND c", Either((p("a"), All((p("b"), p("c")))))),
            ("a OR b AND NOT c", Either((p("a"), All((p("b"), Without(p("c"))))))),
            ("(a OR b) AND c", All((Either((p("a"), p("b"))), p("c")))),
            ("(a OR b)(c OR d)", All((Either((p("a"), p("b"))), Either((p("c"), p("d")))))),
            ("((a OR b))", Either((p("a"), p("b")))),
            ("NOT (a b)", Without(All((p("a"), p("b"))))),
            ("NOT(a OR b)", Without(Either((p("a"), p("b"))))),
            ("a AND -b", All((p("a"), Without(p("b"))))),
            ("a OR f(x)", Either((p("a"), p("f x")))),
            ("(a OR f(x))", Either((p("a"), p("f x")))),
            ("(a OR f(x) OR b) AND c", All((Either((p("a"), p("f x"), p("b"))), p("c")))),
            ("foo-bar OR c", Either((p("foo bar"), p("c")))),
            ('"green tea" OR c', Either((q("green tea"), p("c")))),
            ("the AND cat", All((p("the"), p("cat")))),
            ("a AND & b", All((p("a"), p("b")))),
            ("a AND OR b", All((p("a"), p("b")))),
            ("AND a OR b", Either((p("a"), p("b")))),
            ("a OR b AND", Either((p("a"), p("b")))),
            ("a OR () b", Either((p("a"), p("b")))),
            ("a AND NOT", None),
            ("(a OR b", Either((p("a"), p("b")))),
            ("a OR b)", Either((p("a"), p("b")))),
        ],
    )
    def test_boolean(self, text: str, clause: Clause | None) -> None:
        """NOT binds before AND, AND before OR; operators with nothing to connect are dropped."""
        found = query(text)
        assert found.clause == clause
        assert bool(found.words) == (clause is None)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("cats AND", ["cats"]),
            ("OR cats", ["cats"]),
            ("cats NOT", ["cats"]),
            ("cats AND (", ["cats"]),
            ('cats AND -""', ["cats"]),
            ("cats ANDROID NOTES", ["cats", "ANDROID", "NOTES"]),
            ("AND", ["AND"]),
            ("NOT OR", ["NOT", "OR"]),
            ("cats and dogs or birds", ["cats", "dogs", "birds"]),
        ],
    )
    def test_idle_operators(self, text: str, expected: list[str]) -> None:
        """Operators that connect nothing leave a plain query; alone they are words."""
        found = query(text)
        assert texts(found.words) == expected
        assert found.clause is None

    def test_prefixes_in_groups(self) -> None:
        """A prefix stays one within a demand, at the end of its phrase."""
        clause = query("a OR ts_ra*").clause
        assert isinstance(clause, Either)
        assert isinstance(clause.clauses[1], Phrase)
        assert [word.prefix for word in clause.clauses[1].words] == [False, True]

    def test_deep_groups_are_bounded(self) -> None:
        """Parentheses deeper than anybody types are ordinary characters."""
        text = "a OR (b AND " * 500 + "c" + ")" * 500
        assert depth(query(text).clause) < 100

    def test_many_demands_are_bounded(self) -> None:
        """Further demands than a store can take are dropped, and the rest stays."""
        clause = query(" OR ".join(f"w{number}" for number in range(1000))).clause
        assert isinstance(clause, Either)
        assert clause.clauses == tuple(p(f"w{number}") for number in range(256))

    def test_dropped_demands_are_told(self) -> None:
        """The answer names the first demand that was too much, and how many there were."""
        (told,) = query(" OR ".join(f"w{number}" for number in range(1000))).misread
        assert told.typed == "w256 and 743 more"
        assert "256" in told.reason

    @pytest.mark.parametrize("text", ['"a" ' * 500, '"a" AND ' * 300 + '"a"', '("a" OR "a") "a"'])
    def test_what_is_said_twice_is_demanded_once(self, text: str) -> None:
        """A quotation that is repeated is one demand, and nothing is left out for it."""
        found = query(text)
        assert found.clause == query('"a"').clause
        assert not found.misread

    def test_nearness_to_itself(self) -> None:
        """What is to stand near itself only has to be there."""
        assert query("NEAR(tea tea)").clause == p("tea")

    def test_many_quotations_are_bounded(self) -> None:
        """After so many, quotations count by their words, and the answer says so once."""
        found = query(" ".join(f'"w{number} x"' for number in range(60)))
        assert isinstance(found.clause, All)
        literals = [one.literal for one in found.clause.clauses if isinstance(one, Phrase)]
        assert literals == [f"w{number} x" for number in range(32)] + [None] * 28
        (told,) = found.misread
        assert told.typed == '"w32 x" and 27 more'
        assert "32 quotations" in told.reason

    def test_many_beginnings_are_bounded(self) -> None:
        """After so many, beginnings of words count as whole words, and the answer says so once."""
        found = query(" ".join(f"w{number:02}*" for number in range(20)) + " w00*")
        assert [word.prefix for word in found.words] == [True] * 16 + [False] * 4
        (told,) = found.misread
        assert told.typed == "w16* and 3 more"
        demanded = query(" OR ".join(f"w{number:02}*" for number in range(20))).marks
        assert [word.prefix for word in demanded] == [True] * 16 + [False] * 4

    def test_signs_beyond_the_bound_demand_nothing(self) -> None:
        """A quotation without words that is one too many is dropped, and the answer says so."""
        signs = [a + b for a in "+-*/<>=" for b in "+-*/<>="][:33]
        found = query(" ".join(f'"{sign}"' for sign in signs))
        assert isinstance(found.clause, All)
        assert len(found.clause.clauses) == 32
        assert found.misread[0].typed == f'"{signs[32]}"'


def depth(clause: Clause | None) -> int:
    """How deep clauses are nested."""
    match clause:
        case All(clauses) | Either(clauses):
            return 1 + max(depth(each) for each in clauses)
        case Without(inner) | InField(_, inner):
            return 1 + depth(inner)
        case _:
            return 1


class TestExclusions:
    """What a minus takes away."""

    @pytest.mark.parametrize(
        ("text", "clause"),
        [
            ("tea -milk", Without(p("milk"))),
            ('tea -"cold milk"', Without(q("cold milk"))),
            ("tea -'cold milk'", Without(q("cold milk"))),
            ("tea -(cold milk)", Without(All((p("cold"), p("milk"))))),
            ("tea -(cold OR milk)", Without(Either((p("cold"), p("milk"))))),
            ("tea -foo-bar", Without(p("foo bar"))),
            ("tea -.env", Without(p("env"))),
            ("tea -title:milk", Without(InField("title", p("milk")))),
            ("tea -title:(cold milk)", Without(InField("title", All((p("cold"), p("milk")))))),
            ("tea -NEAR(cold milk)", Without(Near((p("cold"), p("milk")), 10))),
            ("tea -milk -sugar", All((Without(p("milk")), Without(p("sugar"))))),
            ("tea (-milk)", Without(p("milk"))),
            ("tea -age:34", Without(p("age 34"))),
            ("tea -", None),
            ("tea - milk -> --", None),
            ('tea -""', None),
        ],
    )
    def test_exclusions(self, text: str, clause: Clause | None) -> None:
        """An exclusion is a demand and leaves the other words as they are."""
        found = query(text)
        assert found.clause == clause
        assert texts(found.words)[0] == "tea"
        if clause:
            assert texts(found.marks) == ["tea"]
            assert found.meaning == "tea"

    @pytest.mark.parametrize("text", ["-5 degrees", "  -5 degrees", "-5,5 degrees", "-40"])
    def test_a_negative_number_begins_a_query(self, text: str) -> None:
        """There is nothing to exclude from yet, so the minus belongs to the number."""
        found = query(text)
        assert found.clause is None
        assert found.words

    @pytest.mark.parametrize("text", ["degrees -5", "-5th degrees", "-2024-01 degrees"])
    def test_other_numbers_are_excluded(self, text: str) -> None:
        """Behind a word, or as part of one, a number is excluded like any word."""
        assert query(text).clause is not None

    def test_only_exclusions(self) -> None:
        """A query may consist of exclusions alone; then nothing is embedded or marked."""
        found = query("-tea")
        assert (found.words, found.marks, found.meaning) == ((), (), "")
        assert found.clause == Without(p("tea"))

    def test_excluded_kinds_and_tags(self) -> None:
        """Tags are excluded by name, and kinds by allowing the others."""
        found = query("tea -kind:prompt -tag:old NOT #cold")
        assert found.filters.kinds == (Kind.NOTE, Kind.BOOKMARK)
        assert found.filters.without_tags == ("old", "cold")

    def test_a_contradiction_finds_nothing(self) -> None:
        """A kind that is wanted and excluded leaves no document."""
        filters = query("kind:note -kind:note").filters
        assert filters.collections == ("",)


class TestNearness:
    """NEAR and its distance."""

    @pytest.mark.parametrize(
        ("text", "clause"),
        [
            ("NEAR(green tea, 5)", Near((p("green"), p("tea")), 5)),
            ("NEAR(green tea)", Near((p("green"), p("tea")), 10)),
            ("NEAR(green tea,0)", Near((p("green"), p("tea")), 0)),
            ('NEAR(cup "green tea", 3)', Near((p("cup"), q("green tea")), 3)),
            ("NEAR(foo-bar the cup)", Near((p("foo bar"), p("the"), p("cup")), 10)),
            ("body:NEAR(green tea)", InField("body", Near((p("green"), p("tea")), 10))),
        ],
    )
    def test_near(self, text: str, clause: Clause) -> None:
        """Nearness is a hard demand beside words that may be relaxed."""
        found = query(f"{text} leaves")
        assert found.clause == clause
        assert texts(found.words) == ["leaves"]

    @pytest.mark.parametrize(
        "text",
        [
            "NEAR(tea)",
            "NEAR(tea, leaves)",
            "NEAR(tea leaves, 99999)",
            "NEAR(tea leaves",
            "NEAR (tea leaves)",
            "near(tea leaves)",
            "NEAR(tea title:leaves)",
            "NEAR(tea -leaves)",
            "NEAR(tea AND)",
            "NEAR(tea ?, 3)",
        ],
    )
    def test_malformed_near(self, text: str) -> None:
        """Anything else called NEAR is words."""
        found = query(text)
        assert not isinstance(found.clause, Near)
        assert texts(found.words)[0].lower() == "near"
        assert "tea" in texts(found.words)


class TestFields:
    """Names before a colon that restrict a demand to a field."""

    @pytest.mark.parametrize(
        ("text", "clause"),
        [
            ("title:tea", InField("title", p("tea"))),
            ("Title:tea", InField("title", p("tea"))),
            ("alias:tea", InField("aliases", p("tea"))),
            ("aliases:tea", InField("aliases", p("tea"))),
            ("heading:tea", InField("headings", p("tea"))),
            ("headings:tea", InField("headings", p("tea"))),
            ("description:tea", InField("description", p("tea"))),
            ("url:tea.org/x", InField("url", p("tea org x"))),
            ("body:foo-bar", InField("body", p("foo bar"))),
            ('title:"green tea"', InField("title", q("green tea"))),
            ("body:(green tea)", InField("body", All((p("green"), p("tea"))))),
            ("body:(green OR tea)", InField("body", Either((p("green"), p("tea"))))),
            ("body:(green -tea)", InField("body", All((p("green"), Without(p("tea")))))),
            ("title:(body:tea)", InField("title", p("tea"))),
            ("tag:(green OR tea)", InField("tags", Either((p("green"), p("tea"))))),
            ("title:the", InField("title", p("the"))),
            ("title:2024", InField("title", p("2024"))),
            ("body:30d", InField("body", p("30d"))),
        ],
    )
    def test_fields(self, text: str, clause: Clause) -> None:
        """A field's demand is hard; operators inside it do not reach the words beside it."""
        found = query(f"{text} leaves")
        assert found.clause == clause
        assert texts(found.words) == ["leaves"]

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("title: tea", ["title", "tea"]),
            ("title:", ["title"]),
            ("title:?", ["title"]),
            ("title:(green tea", ["title", "green", "tea"]),
            ("title :tea", ["title", "tea"]),
            ("subtitle:tea", ["subtitle", "tea"]),
            ("x=title:tea", ["x", "title", "tea"]),
        ],
    )
    def test_not_fields(self, text: str, expected: list[str]) -> None:
        """A name without a value, or one that nobody knows, is a word."""
        found = query(text)
        assert texts(found.words) == expected
        assert found.clause is None

    def test_prefix_in_a_field(self) -> None:
        """A prefix works in a field, also in that of tags."""
        for text, name in (("title:te*", "title"), ("tag:te*", "tags")):
            clause = query(text).clause
            assert clause == InField(name, Phrase((Word("te", ("te",), prefix=True),)))
