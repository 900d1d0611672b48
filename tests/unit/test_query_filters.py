"""What a query's filters make of a scope."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from tests.unit.queries import NOW, p, query, texts
from twolane.model.document import Kind
from twolane.model.scope import (
    All,
    Among,
    During,
    Either,
    Except,
    Filter,
    Having,
    InField,
    Measure,
    Part,
    Scope,
    Span,
    Time,
    Trait,
    Valued,
    Without,
)
from twolane.query import Filters, narrow, parse


def day(year: int, month: int = 1, day: int = 1) -> datetime:
    """Midnight UTC."""
    return datetime(year, month, day, tzinfo=UTC)


def filtered(*filters: Filter) -> Filters:
    """Filters that a scope has no fields for."""
    return Filters(filters=filters)


class TestFilters:
    """Names before a colon that restrict the scope."""

    @pytest.mark.parametrize(
        ("text", "filters"),
        [
            ("tag:work", Filters(tags=("work",))),
            ("tags:work", Filters(tags=("work",))),
            ("tag:#work", Filters(tags=("work",))),
            ("tag:work,", Filters(tags=("work",))),
            ('tag:"deep work"', Filters(tags=("deep work",))),
            ("#work", Filters(tags=("work",))),
            ("#Дом/Кухня,", Filters(tags=("Дом/Кухня",))),
            ("#work #Work tag:home", Filters(tags=("work", "home"))),
            ("-#work -tag:home", Filters(without_tags=("work", "home"))),
            ("kind:note", Filters(kinds=(Kind.NOTE,))),
            ("kind:Bookmark", Filters(kinds=(Kind.BOOKMARK,))),
            ("kind:note kind:prompt", Filters(kinds=(Kind.NOTE, Kind.PROMPT))),
            ("kind:note|prompt", Filters(kinds=(Kind.NOTE, Kind.PROMPT))),
            ("path:work/**/*.md", Filters(paths=("work/**/*.md",))),
            ('path:"My Notes/*" path:b', Filters(paths=("My Notes/*", "b"))),
            ("collection:Notes in:links", Filters(collections=("Notes", "links"))),
            ("lang:ru lang:EN", Filters(languages=("ru", "en"))),
            ("after:2024-02-29", Filters(updated_from=day(2024, 2, 29))),
            ("after:2024-01", Filters(updated_from=day(2024))),
            ("after:2024", Filters(updated_from=day(2024))),
            ("before:2024-03-01", Filters(updated_before=day(2024, 3))),
            ("after:2023 after:2024-02", Filters(updated_from=day(2024, 2))),
            ("before:2023 before:2024-02", Filters(updated_before=day(2023))),
            ("after:30d", Filters(updated_from=NOW - timedelta(days=30))),
            ("before:2w", Filters(updated_before=NOW - timedelta(days=14))),
            ("after:1m", Filters(updated_from=NOW.replace(month=2, day=29))),
            ("after:4m", Filters(updated_from=NOW.replace(year=2023, month=11, day=30))),
            ("after:1y", Filters(updated_from=NOW.replace(year=2023))),
            (
                "updated:2024-01..2024-06",
                Filters(updated_from=day(2024), updated_before=day(2024, 7)),
            ),
            ("updated:2024-01..", Filters(updated_from=day(2024))),
            ("updated:..2023", Filters(updated_before=day(2024))),
            ("updated:2023-12", Filters(updated_from=day(2023, 12), updated_before=day(2024))),
            ("updated:2023", Filters(updated_from=day(2023), updated_before=day(2024))),
            ("updated:>2023", Filters(updated_from=day(2024))),
            ("updated:>=2023-12", Filters(updated_from=day(2023, 12))),
            ("updated:<2023", Filters(updated_before=day(2023))),
            ("updated:<=2023", Filters(updated_before=day(2024))),
            ("after:yesterday", Filters(updated_from=day(2024, 3, 30))),
            ("updated:today", Filters(updated_from=day(2024, 3, 31), updated_before=day(2024, 4))),
            ("after:12h", Filters(updated_from=NOW - timedelta(hours=12))),
            (
                "after:2024-01-31T12:30",
                Filters(updated_from=datetime(2024, 1, 31, 12, 30, tzinfo=UTC)),
            ),
            (
                "before:2024-01-31T12:30:00+05:00",
                Filters(updated_before=datetime(2024, 1, 31, 7, 30, tzinfo=UTC)),
            ),
            ("created:2024", filtered(During(Time.CREATED, day(2024), day(2025)))),
            ("used:2w", filtered(During(Time.USED, NOW - timedelta(days=14)))),
            ("-used:2w", filtered(Except(During(Time.USED, NOW - timedelta(days=14))))),
            ("tag:work|home", filtered(Among(Trait.TAG, ("work", "home")))),
            ("tag:🔥", Filters(tags=("🔥",))),
            ("tag:c++", Filters(tags=("c++",))),
            ("has:url", filtered(Having(Part.URL))),
            ("has:tags,aliases", filtered(Having(Part.TAG), Having(Part.ALIAS))),
            ("-has:url", filtered(Except(Having(Part.URL)))),
            ("-path:work", filtered(Except(Among(Trait.PATH, ("work",))))),
            ("-lang:ru", filtered(Except(Among(Trait.LANGUAGE, ("ru",))))),
            ("-in:Notes", filtered(Except(Among(Trait.COLLECTION, ("Notes",))))),
            ("-after:2024", filtered(Except(During(Time.UPDATED, day(2024))))),
            ("is:note", Filters(kinds=(Kind.NOTE,))),
            ("archived:any", Filters(archived=True)),
            ("is:archived", Filters(filters=(Having(Part.ARCHIVED),), archived=True)),
            ("archived:no", filtered(Except(Having(Part.ARCHIVED)))),
            ("updated:7d", Filters(updated_from=NOW - timedelta(days=7))),
            (
                "updated:2w..7d",
                Filters(
                    updated_from=NOW - timedelta(days=14), updated_before=NOW - timedelta(days=7)
                ),
            ),
        ],
    )
    def test_filters(self, text: str, filters: Filters) -> None:
        """A filter restricts the scope and is neither looked for nor embedded."""
        found = query(f"green {text} tea")
        assert found.filters == filters
        assert texts(found.words) == ["green", "tea"]
        assert found.meaning == "green tea"
        assert found.clause is None
        assert query(text).words == ()

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("kind:foo", ["kind", "foo"]),
            ("kind:note|foo", ["kind", "note", "foo"]),
            ("lang:python", ["lang", "python"]),
            ("after:banana", ["banana"]),
            ("after:2024-13", ["2024", "13"]),
            ("after:2023-02-29", ["2023", "02", "29"]),
            ("after:0000", ["0000"]),
            ("before:9999y", ["9999y"]),
            ("after:٣d", ["٣d"]),
            ("updated:2024-06..2024-01", ["updated", "2024", "06", "01"]),
            ("updated:..", ["updated"]),
            ("#1 ##x", ["1", "x"]),
            ("#include<stdio.h>", ["include", "stdio", "h"]),
            ("path:" + "*a" * 9, ["path"]),
            ("has:wings", ["wings"]),
            ("is:odd", ["odd"]),
            ("archived:perhaps", ["archived", "perhaps"]),
            ("created:>soon", ["created", "soon"]),
            ("after:2024-01-31T25:00", ["2024", "01", "31T25", "00"]),
        ],
    )
    def test_bad_values_are_words(self, text: str, expected: list[str]) -> None:
        """A value that makes no sense for its filter turns the whole into words."""
        found = query(text)
        assert texts(found.words) == expected
        assert found.filters == Filters()
        named = [one for one in text.split() if not one.startswith("#")]
        assert [one.typed for one in found.misread] == named

    @pytest.mark.parametrize("text", ["after:2024 tea", "title:someday", "12:30 http://x.y", "a:b"])
    def test_only_filters_can_be_misread(self, text: str) -> None:
        """What is a filter, a field or no name at all is nothing to complain about."""
        assert query(text).misread == ()

    def test_what_is_misread_is_told_with_what_could_be_written(self) -> None:
        """Each is told once, wherever it stands, and the reason says what is allowed."""
        (one,) = query("tea (after:soon OR after:soon) -after:soon").misread
        assert one.typed == "after:soon"
        assert "'soon' is not a date; write 2024" in one.reason

    def test_days_are_those_of_the_asker(self) -> None:
        """Dates are read in the time zone of `now`, and a `now` without zone is UTC."""
        zone = timezone(timedelta(hours=5))
        there = parse("after:2024-03-01", now=NOW.astimezone(zone)).filters.updated_from
        assert there == datetime(2024, 3, 1, tzinfo=zone)
        naive = parse("after:1d", now=NOW.replace(tzinfo=None)).filters.updated_from
        assert naive == NOW - timedelta(days=1)

    def test_filters_hold_for_the_whole_query(self) -> None:
        """Within a group a filter still restricts everything; two kinds are alternatives."""
        found = query("(kind:note OR kind:prompt) AND tea")
        assert found.filters.kinds == (Kind.NOTE, Kind.PROMPT)
        assert found.clause == p("tea")

    def test_tags_as_alternatives(self) -> None:
        """Where tags are alternatives they are looked for in the field of tags."""
        found = query("tag:work OR NOT tag:home")
        work, home = InField("tags", p("work")), InField("tags", p("home"))
        assert found.clause == Either((work, Without(home)))
        assert found.filters == Filters()

    def test_many_values_are_bounded(self) -> None:
        """A filter takes no more values than a store can."""
        found = query(" ".join(f"#t{number}" for number in range(1000)))
        assert len(found.filters.tags) == 64


def done(text: str) -> Filters:
    """The property `status` with this text."""
    return filtered(Valued("status", (Span(Measure.TEXT, text, text),)))


class TestProperties:
    """Names before a colon that some document has as a property."""

    HELD = frozenset({"status", "due-date", "статус", "http", "std", "re"})

    @pytest.mark.parametrize(
        ("text", "filters"),
        [
            ("status:done", done("done")),
            ("Status:Done,", done("done")),
            ('status:"In  Progress"', done("in progress")),
            ('status:">3"', done(">3")),
            ("-status:done", filtered(Except(*done("done").filters))),
            ("has:status", filtered(Valued("status"))),
            ("status:*", filtered(Valued("status"))),
            ("статус:*", filtered(Valued("статус"))),
            ("due_date:*", filtered(Valued("due-date"))),
        ],
    )
    def test_filters(self, text: str, filters: Filters) -> None:
        """A property restricts the scope and is neither looked for nor embedded."""
        found = parse(f"green {text} tea", now=NOW, properties=self.HELD)
        assert found.filters == filters
        assert found.meaning == "green tea"
        assert found.clause is None

    @pytest.mark.parametrize(
        "text",
        ["http://tea.org/green", "std::move", "Re: foo", "12:30", "age:34", "status:", "status: x",
         "xstatus:done", "status:(done)", "re:\\x", "status:>soon"],
    )  # fmt: skip
    def test_what_is_no_property(self, text: str) -> None:
        """An address, a name with two colons, a time or an unknown name swallows no query."""
        found = parse(text, now=NOW, properties=self.HELD)
        assert found.filters == Filters()
        assert found.words

    @pytest.mark.parametrize("text", ["status:done", "-status:done", "has:status"])
    def test_unknown_properties_are_words(self, text: str) -> None:
        """Where no document has the property, what was typed is looked for."""
        found = parse(f"tea {text}", now=NOW)
        assert found.filters == Filters()
        assert len(found.words) > 1 or found.clause is not None

    def test_built_in_names_keep_their_meaning(self) -> None:
        """A property called like a field or filter does not take its place."""
        found = parse("kind:note title:tea", now=NOW, properties={"kind", "title"})
        assert found.filters == Filters(kinds=(Kind.NOTE,))


class TestNarrowing:
    """A scope with a query's demands added."""

    def test_filters_are_added(self) -> None:
        """Where only one side says something, that holds."""
        asked = query("kind:note in:links #new -#old lang:ru path:a after:2024 before:2025 -milk")
        narrowed = narrow(Scope(owner="ann", tags=("work",), documents=("a",)), asked)
        assert narrowed == Scope(
            owner="ann",
            collections=("links",),
            kinds=(Kind.NOTE,),
            tags=("work", "new"),
            without_tags=("old",),
            paths=("a",),
            languages=("ru",),
            updated_from=day(2024),
            updated_before=day(2025),
            documents=("a",),
            clause=Without(p("milk")),
        )

    def test_a_plain_query_changes_nothing(self) -> None:
        """Words are no restriction."""
        scope = Scope(kinds=(Kind.NOTE,), paths=("a",), updated_from=NOW, clause=p("tea"))
        assert narrow(scope, query("green tea")) == scope

    def test_both_sides_hold(self) -> None:
        """What both sides restrict is restricted by both."""
        scope = Scope(
            kinds=(Kind.PROMPT, Kind.NOTE), collections=("a", "b"), languages=("en", "ru"),
            updated_from=day(2024, 2), updated_before=day(2024, 5), clause=p("tea"),
        )  # fmt: skip
        asked = query(
            "kind:note kind:bookmark in:b in:c lang:ru after:2024 before:2024-04 NOT milk"
        )
        narrowed = narrow(scope, asked)
        assert narrowed.kinds == (Kind.NOTE,)
        assert narrowed.collections == ("b",)
        assert narrowed.languages == ("ru",)
        assert (narrowed.updated_from, narrowed.updated_before) == (day(2024, 2), day(2024, 4))
        assert narrowed.clause == All((p("tea"), Without(p("milk"))))

    @pytest.mark.parametrize(
        ("scope", "text"),
        [
            (Scope(kinds=(Kind.PROMPT,)), "kind:note"),
            (Scope(collections=("a",), documents=("x",)), "in:b"),
            (Scope(languages=("en",)), "lang:ru"),
            (Scope(paths=("work",)), "path:home"),
            (Scope(paths=("work",)), "path:*.md"),
            (Scope(paths=("a*",)), "path:*b"),
            (Scope(collections=("a",)), "kind:note -kind:note"),
        ],
    )
    def test_nothing_in_common(self, scope: Scope, text: str) -> None:
        """Where the two sides exclude each other, only the document without an id is left."""
        assert narrow(scope, query(text)).documents == ("",)

    def test_times_without_a_zone(self) -> None:
        """A scope's time without a zone is UTC and can be compared."""
        scope = Scope(updated_from=datetime(2024, 2, 1), updated_before=datetime(2024, 2, 2))  # noqa: DTZ001
        narrowed = narrow(scope, query("after:2024-01 before:2024-02-01"))
        assert narrowed.updated_from == datetime(2024, 2, 1)  # noqa: DTZ001
        assert narrowed.updated_before == day(2024, 2)

    @pytest.mark.parametrize(
        ("one", "other", "common"),
        [
            ("work", "work/2024/*.md", "work/2024/*.md"),
            ("work/**", "work/plan*", "work/plan*"),
            ("work/**/plan*", "work", "work/**/plan*"),
            ("work", "**/plan*", "work/**/plan*"),
            ("w*", "work/2024", "work/2024"),
            ("**", "a?c", "a?c"),
            ("./work/", "work", "work"),
            ("a?c", "a?c", "a?c"),
        ],
    )
    def test_paths_within_paths(self, one: str, other: str, common: str) -> None:
        """A folder and a pattern meet in a pattern within the folder, on whichever side it is."""
        narrowed = narrow(Scope(paths=(one,)), query(f'path:"{other}"'))
        assert narrowed.paths == (common,)
        assert narrowed.documents == ()
