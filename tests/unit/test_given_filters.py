"""Filters by name: what an option, a parameter or an argument means."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.unit.queries import NOW
from twolane.model.document import Kind
from twolane.model.errors import BadInput
from twolane.model.scope import Among, During, Except, Having, Part, Scope, Time, Trait
from twolane.query import narrow, parse
from twolane.query.filter_names import FILTERS
from twolane.query.given import require_filters, require_held, scope_from


@pytest.mark.parametrize(
    ("given", "typed"),
    [
        ({"kind": "note"}, "kind:note"),
        ({"kind": ["note", "prompt"]}, "kind:note kind:prompt"),
        ({"not_kind": "bookmark"}, "-kind:bookmark"),
        ({"tag": ["a", "b"]}, "tag:a tag:b"),
        ({"tag": "a|b"}, "tag:a|b"),
        ({"any_tag": ["a", "b"]}, "tag:a|b"),
        ({"not_tag": ["a"], "path": "x/*"}, "-tag:a path:x/*"),
        ({"not_path": "x"}, "-path:x"),
        ({"collection": "Notes", "not_collection": "links"}, "in:Notes -in:links"),
        ({"lang": "ru", "not_lang": "en"}, "lang:ru -lang:en"),
        ({"has": ["url", "status"]}, "has:url has:status"),
        ({"not_has": "url"}, "-has:url"),
        ({"where": ["status:done"], "not_where": "rating:>3"}, "status:done -rating:>3"),
        ({"where": "tags:a/b", "not_where": "Tag:=c"}, "tag:a/b -tag:c"),
        ({"where": "tags:*"}, "has:tag"),
        ({"where": "created:2024", "not_where": "updated:>2024"}, "created:2024 -updated:>2024"),
        ({"where": "Created:*"}, "has:created"),
        ({"after": "30d", "before": "2024-02"}, "after:30d before:2024-02"),
        ({"after": 2024}, "after:2024"),
        ({"updated": "2023", "used": "2w"}, "updated:2023 used:2w"),
        ({"created": ">2022"}, "created:>2022"),
        ({"archived": "any"}, "archived:any"),
        ({"archived": "only"}, "is:archived"),
        ({"archived": True}, "archived:true"),
        ({"kind": None, "tag": [], "path": ""}, ""),
    ],
)  # fmt: skip
def test_a_filter_by_name_means_what_it_means_in_a_query(
    given: dict[str, object], typed: str
) -> None:
    """The same scope comes of both, so there is one grammar for every way in."""
    known = frozenset({"status", "rating"})
    scope = scope_from(given, properties=known, now=NOW)
    assert scope == narrow(Scope(), parse(typed, ("en", "ru"), now=NOW, properties=known))


def test_every_filter_is_tried_above() -> None:
    """No filter is left out of the comparison with the query language."""
    marks = test_a_filter_by_name_means_what_it_means_in_a_query.pytestmark  # type: ignore[attr-defined]
    tried = {name for given, _ in marks[0].args[1] for name in given}
    assert tried == set(FILTERS)


def test_filters_narrow_a_scope() -> None:
    """What the scope restricts already stays restricted."""
    scope = scope_from({"tag": "b", "kind": "note"}, Scope(owner="ann", tags=("a",)), now=NOW)
    assert scope == Scope(owner="ann", tags=("a", "b"), kinds=(Kind.NOTE,))
    assert scope_from({"kind": "note"}, Scope(kinds=(Kind.PROMPT,))).documents == ("",)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"king": "note"}, "there is no filter 'king'; the filters are kind, "),
        ({"kind": "poem"}, "filter kind: 'poem' is not a kind; the kinds are note, "),
        ({"after": "someday"}, "filter after: 'someday' is not a date; write 2024"),
        ({"created": "2024-06..2024-01"}, "filter created: "),
        ({"has": "wings"}, "filter has: 'wings' is not something that a document may have: url"),
        ({"where": "status"}, "filter where: 'status' is not a property and its value"),
        ({"where": "status:>soon"}, "filter where: "),
        ({"archived": "perhaps"}, "filter archived: 'perhaps' is not one of no, any and only"),
        ({"tag": {"a": 1}}, "filter tag: {'a': 1} is not a tag"),
        ({"lang": "tlh"}, "filter lang: 'tlh' is not a language"),
    ],
)
def test_bad_filters_say_what_is_allowed(given: dict[str, object], said: str) -> None:
    """The error names the filter and what may stand there."""
    with pytest.raises(BadInput) as error:
        scope_from(given, properties=(), now=NOW)
    assert str(error.value).startswith(said)


def test_relative_dates_count_from_now() -> None:
    """A filter without a `now` of its own counts from the present."""
    scope = scope_from({"used": "1d"})
    (filter,) = scope.filters
    assert isinstance(filter, During)
    assert filter.time == Time.USED
    assert filter.start is not None
    assert abs((datetime.now(UTC) - filter.start).total_seconds() - 86_400) < 60


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        (Scope(collections=("x",)), "there is no collection 'x'; there are: notes"),
        (
            Scope(filters=(Except(Among(Trait.COLLECTION, ("x",))),)),
            "there is no collection 'x'; there are: notes",
        ),
        (
            scope_from({"where": "stats:done"}),
            "no document has the property 'stats'; there are: status",
        ),
    ],
)
def test_what_is_not_there_is_refused(scope: Scope, said: str) -> None:
    """A typing error in a name does not silently find nothing."""
    with pytest.raises(BadInput, match=said):
        require_held(scope, ["notes"], ["status"])


def test_what_is_there_is_let_through() -> None:
    """Known names and other filters pass."""
    scope = Scope(collections=("notes",), filters=(Having(Part.URL),))
    require_held(scope, ["notes"], [])


@pytest.mark.parametrize(
    "text",
    ["", "tag:food", "-tag:food kind:note after:2024", "tag:a OR tag:b", "status:done", "tag:a|b"],
)
def test_filters_alone_are_let_through(text: str) -> None:
    """Whatever only restricts may stand where filters are asked for."""
    require_filters(text, ("en",), ("status",))


@pytest.mark.parametrize("text", ["rye", "tag:food rye", "-rye", '"rye bread"', "tag:a OR rye"])
def test_words_among_filters_are_refused(text: str) -> None:
    """Words, wanted or not, belong into the query, and the error says so."""
    with pytest.raises(BadInput, match="holds plain words; put them into the query"):
        require_filters(text, ("en",), ())
