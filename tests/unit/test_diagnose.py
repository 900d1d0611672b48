"""Why a document is found or not: on real folders and a real database, with a quick embedder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.builders import indexed_library, open_library, write_notes
from twolane import Capability, Kind, Library, Mode, Scope, Settings
from twolane.explain.diagnosis import (
    Change,
    Diagnosis,
    ObstacleKind,
    Opinion,
    Origin,
    Standing,
    ordinal,
)
from twolane.explain.restrictions import clause_text
from twolane.explain.suggestions import droppable, parts_of, without
from twolane.model.answer import Lane
from twolane.model.document import Batch, Document
from twolane.model.errors import AmbiguousDocument, BadInput, NoSuchDocument, NotPermitted
from twolane.query import parse

NOTES = {
    "garden/tomatoes.md": "---\ntags: [garden, summer]\n---\n# Tomatoes\n\nSow in March.\n\n"
    "## Side shoots\n\nPinch out the side shoots of tomatoes every week.\n",
    "garden/compost.md": "---\ntags: [garden]\n---\n# Compost\n\nLeaves, and old tomatoes too.\n",
    "kitchen/soup.md": "# Soup\n\nOnions, water, salt and one carrot.\n",
    "kitchen/tea.md": "# Tea\n\nSteep green tea at eighty degrees, then pour.\n",
    "дом/чай.md": "# Чай\n\nЗелёный чай заваривают не кипятком.\n",
    "old/shed.md": "---\narchived: true\n---\n# Shed\n\nThe shed was painted with tar.\n",
    "private/gifts.md": "---\nsearch: false\n---\n# Gifts\n\nA telescope for Ann.\n",
    "_templates/day.md": "# Day\n\nWhat happened today?\n",
    "broken.md": "\x00\x01binary",
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "vault", NOTES)


@pytest.fixture
def library(tmp_path: Path, vault: Path) -> Iterator[Library]:
    with opened(tmp_path, vault) as library:
        yield library


def opened(tmp_path: Path, vault: Path, **settings: object) -> Library:
    """A library with the vault in it; all is a hit of the dense lane unless set otherwise."""
    chosen = Settings(
        db=tmp_path / "x.db", embedding={"embedder": "hashing"}, search={"min_similarity": -1.0}
    )
    library = Library.open(settings=chosen.changed(**settings))
    library.index(vault)
    library.embed()
    return library


def opinion(diagnosis: Diagnosis, lane: Lane) -> Opinion:
    (found,) = (one for one in diagnosis.opinions if one.lane == lane)
    return found


def obstacles(diagnosis: Diagnosis) -> list[tuple[ObstacleKind, Origin, str]]:
    return [(one.kind, one.origin, one.what) for one in diagnosis.obstacles]


class TestFound:
    """A document that is among the results, or further down."""

    def test_first(self, library: Library) -> None:
        """The best result is said to be first, with what each lane gave and what it holds."""
        found = library.why("side shoots tomatoes", "garden/tomatoes.md")
        (result, *_) = library.search("side shoots tomatoes").results
        assert (found.rank, found.standing) == (1, Standing.SHOWN)
        assert (found.id, found.title) == (result.id, "Tomatoes")
        assert found.score == result.score
        assert found.verdict.startswith("It is 1st of ")
        assert {one.lane: one.rank for one in found.opinions if one.rank} == result.ranks
        assert found.contributions == result.contributions
        assert [(one.word, one.fields) for one in found.words] == [
            ("side", ("headings", "body")),
            ("shoots", ("headings", "body")),
            ("tomatoes", ("title", "headings", "body")),
        ]
        assert found.coverage == pytest.approx(1.0)
        assert found.passage is not None
        assert found.passage.heading == ("Side shoots",)
        assert found.passage.similarity is not None
        assert (found.obstacles, found.suggestion) == ((), None)

    def test_the_place_is_that_of_the_search(self, library: Library) -> None:
        """Rank and score are those of a search that shows all."""
        results = library.search("green tomatoes salt", limit=9).results
        for rank, result in enumerate(results, start=1):
            found = library.why("green tomatoes salt", result.id, limit=9)
            assert (found.rank, found.score) == (rank, result.score)

    def test_low_for_want_of_a_word(self, library: Library) -> None:
        """A document that lacks a word says so, and dropping the word is what helps."""
        found = library.why("tomatoes leaves shoots", "garden/compost.md", limit=1)
        assert found.rank is not None
        assert (found.rank > 1, found.standing) == (True, Standing.BELOW)
        assert [one.word for one in found.words if not one.held] == ["shoots"]
        assert found.coverage is not None
        assert 0 < found.coverage < 1
        assert "below the one that is shown" in found.verdict
        assert "“shoots”" in found.verdict
        assert found.suggestion is not None
        assert (found.suggestion.change, found.suggestion.what) == (Change.TERM, "shoots")

    def test_beyond_the_pool(self, tmp_path: Path, vault: Path) -> None:
        """A document that the usual pools cut off still has a place, after all that they bring."""
        write_notes(
            vault, {f"many/{n:02}.md": f"# Salt {n}\n\nsalt and more salt" for n in range(9)}
        )
        with opened(tmp_path, vault, search={"pool": 3, "limit": 2}) as library:
            found = library.why("salt", "kitchen/soup.md")
            shown = library.search("salt").results
            assert len(shown) == 2
        assert found.standing == Standing.BELOW
        assert found.rank is not None
        assert 3 < found.rank <= found.found
        for one in found.opinions:
            if one.lane == Lane.IDENTITY:
                continue
            assert one.rank is not None
            assert one.rank <= one.hits

    def test_another_language(self, library: Library) -> None:
        """Where words can hardly judge, the diagnosis says so."""
        found = library.why("steep the green tea", "дом/чай.md")
        assert found.foreign
        assert opinion(found, Lane.LEXICAL).rank is None
        assert "another language" in found.verdict
        assert found.standing == Standing.SHOWN
        assert not library.why("steep the green tea", "garden/compost.md").foreign

    def test_shares_are_the_score(self, library: Library) -> None:
        """What the lanes gave adds up to what the features gave, and these to the score."""
        found = library.why("tomatoes leaves", "garden/compost.md")
        (result,) = [one for one in library.search("tomatoes leaves").results if one.id == found.id]
        assert found.contributions == result.contributions
        assert sum(one.share for one in found.opinions) == pytest.approx(
            sum(one.share for one in found.contributions)
        )

    def test_one_lane_alone(self, library: Library) -> None:
        """Only the lanes of the mode have an opinion."""
        words = library.why("tomatoes", "garden/compost.md", mode=Mode.LEXICAL)
        meaning = library.why("tomatoes", "garden/compost.md", mode="semantic")
        assert Lane.DENSE not in [one.lane for one in words.opinions]
        assert Lane.LEXICAL not in [one.lane for one in meaning.opinions]
        assert words.passage is not None
        assert words.passage.similarity is None

    def test_filters_alone(self, library: Library) -> None:
        """A query of filters alone has places without votes."""
        found = library.why("tag:garden", "garden/compost.md")
        assert found.rank in (1, 2)
        assert found.found == 2
        assert found.opinions == ()
        assert "newest first" in found.verdict

    def test_a_repaired_word(self, library: Library) -> None:
        """A slip is shown with what it was taken for."""
        found = library.why("carrott onions", "kitchen/soup.md")
        taken = {one.word: one.taken_for for one in found.words}
        assert taken == {"carrott": ("carrot",), "onions": ()}
        assert all(one.held for one in found.words)


class TestRemoved:
    """A document that a filter, a demand or the index keeps out."""

    @pytest.mark.parametrize(
        ("scope", "query", "expected"),
        [
            (Scope(tags=("summer",)), "", (ObstacleKind.TAG, Origin.SCOPE, "summer")),
            (Scope(), "tag:summer", (ObstacleKind.TAG, Origin.QUERY, "summer")),
            (Scope(), "#summer", (ObstacleKind.TAG, Origin.QUERY, "summer")),
            (Scope(without_tags=("garden",)), "", (ObstacleKind.NOT_TAG, Origin.SCOPE, "garden")),
            (Scope(), "-tag:garden", (ObstacleKind.NOT_TAG, Origin.QUERY, "garden")),
            (Scope(paths=("kitchen/*",)), "", (ObstacleKind.PATH, Origin.SCOPE, "“kitchen/*”")),
            (Scope(), "path:kitchen", (ObstacleKind.PATH, Origin.QUERY, "“kitchen”")),
            (Scope(kinds=(Kind.PROMPT,)), "", (ObstacleKind.KIND, Origin.SCOPE, "prompt")),
            (Scope(), "kind:prompt", (ObstacleKind.KIND, Origin.QUERY, "prompt")),
            (Scope(), "lang:ru", (ObstacleKind.LANGUAGE, Origin.QUERY, "ru")),
            (
                Scope(updated_before=datetime(2001, 2, 3, tzinfo=UTC)),
                "",
                (ObstacleKind.DATE, Origin.SCOPE, "before 2001-02-03"),
            ),
            (Scope(), "after:2999", (ObstacleKind.DATE, Origin.QUERY, "after 2999-01-01")),
            (
                Scope(collections=("other",)),
                "",
                (ObstacleKind.COLLECTION, Origin.SCOPE, "“other”"),
            ),
        ],
    )
    def test_by_a_filter(
        self,
        library: Library,
        scope: Scope,
        query: str,
        expected: tuple[ObstacleKind, Origin, str],
    ) -> None:
        """The filter is named with where it comes from, and dropping it is what helps."""
        found = library.why(f"leaves {query}".strip(), "garden/compost.md", scope=scope)
        assert (found.standing, found.rank, found.score) == (Standing.MISSING, None, None)
        assert obstacles(found) == [expected]
        assert found.verdict == f"It is not found because {found.obstacles[0].reason}."
        assert found.passage is not None
        assert found.suggestion is not None
        assert found.suggestion.change == Change.FILTER
        assert (found.suggestion.query, found.suggestion.rank) == ("leaves", 1)
        assert {one.reason for one in found.opinions} == {"it is out of scope"}

    def test_by_two_filters(self, library: Library) -> None:
        """Each filter that it fails is named; no single change helps then."""
        found = library.why("leaves tag:summer", "garden/compost.md", scope=Scope(paths=("old",)))
        assert [kind for kind, _, _ in obstacles(found)] == [ObstacleKind.PATH, ObstacleKind.TAG]
        assert found.suggestion is None

    def test_by_filters_that_exclude_each_other(self, library: Library) -> None:
        """Where each filter alone would let it pass, the contradiction is the reason."""
        scope = Scope(paths=("garden/c*.md",))
        found = library.why("leaves path:garden/*post.md", "garden/compost.md", scope=scope)
        assert [kind for kind, _, _ in obstacles(found)] == [ObstacleKind.CONTRADICTION]

    def test_archived(self, library: Library) -> None:
        """An archived document is found when archived ones are searched, and that is suggested."""
        found = library.why("painted shed", "old/shed.md")
        assert obstacles(found) == [(ObstacleKind.ARCHIVED, Origin.SCOPE, "archived")]
        assert found.suggestion is not None
        assert found.suggestion.change == Change.ARCHIVED
        assert library.why("painted shed", "old/shed.md", scope=Scope(archived=True)).rank == 1

    def test_by_a_phrase(self, library: Library) -> None:
        """A quotation that it does not hold is named as it was typed."""
        found = library.why('leaves "tomatoes old"', "garden/compost.md")
        assert obstacles(found) == [(ObstacleKind.DEMAND, Origin.QUERY, '"tomatoes old"')]
        assert found.suggestion is not None
        assert (found.suggestion.change, found.suggestion.query) == (Change.TERM, "leaves")

    def test_by_an_excluded_word(self, library: Library) -> None:
        """A word that it holds and that is excluded is named."""
        found = library.why("leaves -tomatoes", "garden/compost.md")
        assert obstacles(found) == [(ObstacleKind.EXCLUSION, Origin.QUERY, "-tomatoes")]
        assert "“tomatoes”" in found.verdict
        assert found.suggestion is not None
        assert (found.suggestion.what, found.suggestion.query) == ("-tomatoes", "leaves")

    def test_by_one_operand(self, library: Library) -> None:
        """Of several demands only those that it fails are named."""
        found = library.why("leaves AND carrot", "garden/compost.md")
        assert obstacles(found) == [(ObstacleKind.DEMAND, Origin.QUERY, "carrot")]
        assert found.suggestion is not None
        assert found.suggestion.query == "leaves"

    def test_by_the_threshold(self, tmp_path: Path, vault: Path) -> None:
        """Below the threshold, the similarity is shown, and lowering the threshold is tried."""
        with opened(tmp_path, vault, search={"min_similarity": 0.9}) as library:
            found = library.why("leaves", "garden/compost.md", mode="semantic")
            assert obstacles(found) == [
                (ObstacleKind.THRESHOLD, Origin.SETTING, "search.min_similarity")
            ]
            assert found.passage is not None
            assert found.passage.similarity is not None
            assert 0 < found.passage.similarity < 0.9
            suggestion = found.suggestion
            assert suggestion is not None
            assert (suggestion.change, suggestion.rank) == (Change.THRESHOLD, 1)
            assert suggestion.value == pytest.approx(found.passage.similarity, abs=0.002)

    def test_without_vectors(self, tmp_path: Path, vault: Path) -> None:
        """A document that is not embedded yet is told what to run."""
        with opened(tmp_path, vault) as library:
            write_notes(vault, {"new.md": "# New\n\nwalrus"})
            library.index(vault)
            found = library.why("carpenter", "new.md")
        kinds = [kind for kind, _, _ in obstacles(found)]
        assert kinds == [ObstacleKind.NO_WORDS, ObstacleKind.NO_VECTORS]
        assert "twolane embed" in found.verdict

    def test_a_lane_that_did_not_run(self, tmp_path: Path, vault: Path) -> None:
        """A lane that is switched off is named among the obstacles."""
        with opened(tmp_path, vault):
            pass
        with open_library(tmp_path / "x.db", "none") as library:
            found = library.why("carrot", "garden/compost.md")
        assert [kind for kind, _, _ in obstacles(found)] == [
            ObstacleKind.NO_WORDS,
            ObstacleKind.LANE,
        ]
        assert [one.lane for one in found.degraded] == [Lane.DENSE]

    def test_a_query_of_signs(self, library: Library) -> None:
        """A query without words is looked for by its letters, which do not stand everywhere."""
        found = library.why("!!!", "garden/compost.md")
        assert [kind for kind, _, _ in obstacles(found)] == [ObstacleKind.NO_LETTERS]
        assert "“!!!” does not stand in it" in found.verdict
        found = library.why("!!!", "garden/compost.md", mode=Mode.SEMANTIC)
        assert [kind for kind, _, _ in obstacles(found)] == [ObstacleKind.NO_WORDS]
        assert "no words" in found.verdict


class TestFiles:
    """A file that gave no document."""

    @pytest.mark.parametrize(
        ("reference", "path", "reason"),
        [
            ("private/gifts.md", "private/gifts.md", "search: false"),
            ("vault/private/gifts.md", "private/gifts.md", "search: false"),
            ("Gifts", "private/gifts.md", "search: false"),
            ("_templates/day.md", "_templates/day.md", "underscore"),
            ("broken.md", "broken.md", "could not be indexed"),
        ],
    )
    def test_left_out(self, library: Library, reference: str, path: str, reason: str) -> None:
        """A file in the ledger is known by id, path or name, and its recorded reason is told."""
        found = library.why("telescope", reference)
        assert (found.path, found.collection) == (path, "vault")
        assert reason in found.verdict
        assert [one.kind for one in found.obstacles] == [ObstacleKind.EXCLUDED]

    def test_nothing_of_its_content_is_shown(self, library: Library) -> None:
        """Of an excluded file neither title nor words nor passages are told."""
        found = library.why("telescope", "private/gifts.md")
        assert (found.id, found.title, found.words, found.passage) == (None, None, (), None)
        assert (found.rank, found.found, found.opinions, found.coverage) == (None, 0, (), None)
        assert "Ann" not in repr(found)

    def test_new_files(self, library: Library, vault: Path) -> None:
        """A file that came after the last run is told to be not indexed."""
        write_notes(vault, {"garden/new.md": "# New\n\nwalrus"})
        for reference in ("garden/new.md", "vault/garden/new.md", str(vault / "garden/new.md")):
            found = library.why("walrus", reference)
            assert (found.path, found.standing) == ("garden/new.md", Standing.MISSING)
            assert [one.kind for one in found.obstacles] == [ObstacleKind.NOT_INDEXED]
            assert "twolane index" in found.verdict

    def test_ignored_files(self, library: Library, vault: Path) -> None:
        """A file that no rule lets in is told so, and one that is new and excluded, too."""
        write_notes(
            vault, {".gitignore": "drafts/\n", "drafts/idea.md": "idea", "list.txt": "milk"}
        )
        write_notes(vault, {"_new.md": "new"})
        assert "ignore file" in library.why("idea", "drafts/idea.md").verdict
        assert "include" in library.why("milk", "list.txt").verdict
        assert "underscore" in library.why("new", "_new.md").verdict

    @pytest.mark.parametrize(
        "reference", ["nothing", "../x.db", "/etc/hostname", "a\0b", "x" * 999]
    )
    def test_unknown_names(self, library: Library, reference: str) -> None:
        """A name that is neither a document nor a file of a collection is an error."""
        with pytest.raises(NoSuchDocument):
            library.why("tea", reference)

    def test_the_name_of_a_file_names_its_document(self, library: Library) -> None:
        """A document that can be found is never said to be kept out."""
        assert library.why("tea", "чай.md").id == "vault/дом/чай.md"
        with pytest.raises(NoSuchDocument):
            library.why("tea", "ай.md")

    def test_ambiguous_names(self, library: Library, vault: Path) -> None:
        """A title of several documents lists them, unless the filters tell which one is meant."""
        write_notes(vault, {"other/tea.md": "# Tea\n\nBlack tea."})
        library.index(vault)
        with pytest.raises(AmbiguousDocument) as error:
            library.why("tea", "Tea")
        assert error.value.candidates == ("vault/kitchen/tea.md", "vault/other/tea.md")
        assert library.why("tea", "Tea", scope=Scope(paths=("other",))).path == "other/tea.md"
        write_notes(vault, {"_a/same.md": "x", "_b/same.md": "y"})
        library.index(vault)
        with pytest.raises(AmbiguousDocument):
            library.why("tea", "same")


class TestPermissions:
    """What a scope may not know, it is not told."""

    def test_a_capability_is_needed(self, library: Library) -> None:
        """Without the capability to search nothing is said, not even that a name is unknown."""
        scope = Scope(capabilities=frozenset())
        for reference in ("garden/compost.md", "nothing"):
            with pytest.raises(NotPermitted):
                library.why("leaves", reference, scope=scope)

    def test_meaning_needs_a_capability(self, library: Library) -> None:
        """Without the capability to search by meaning, no similarity is told."""
        scope = Scope(capabilities=frozenset({Capability.SEARCH}))
        found = library.why("leaves", "garden/compost.md", scope=scope)
        assert Lane.DENSE not in [one.lane for one in found.opinions]
        assert found.passage is not None
        assert found.passage.similarity is None
        assert [one.lane for one in found.degraded] == [Lane.DENSE]

    def test_documents_of_others(self, library: Library) -> None:
        """A document of another owner does not exist, and neither does the ledger."""
        with pytest.raises(NoSuchDocument):
            library.why("leaves", "garden/compost.md", scope=Scope(owner="ann"))
        with pytest.raises(NoSuchDocument):
            library.why("leaves", "private/gifts.md", scope=Scope(owner="ann"))

    def test_folders_are_for_those_who_index(self, library: Library, vault: Path) -> None:
        """Who may only search does not learn what lies in the folder unindexed."""
        write_notes(vault, {"garden/new.md": "# New\n\nwalrus"})
        reader = Scope(capabilities=frozenset({Capability.SEARCH, Capability.SEMANTIC}))
        with pytest.raises(NoSuchDocument):
            library.why("walrus", "garden/new.md", scope=reader)

    @pytest.mark.parametrize("flag", ["searchable", "encrypted"])
    def test_hidden_documents(self, library: Library, flag: str) -> None:
        """A document that is stored and hidden is kept out, and nothing of it is shown."""
        from twolane.ingest.analysis import prepare

        hidden = Document(
            id="vault/h.md", collection="vault", title="Secret", body="walrus", path="h.md"
        )
        hidden = replace(hidden, **{flag: flag != "searchable"})
        library._stores.documents.apply(Batch("vault", upserts=[prepare(hidden, library.settings)]))
        found = library.why("walrus", "h.md")
        assert "kept out of search" in found.verdict
        assert "Secret" not in repr(found)


class TestSuggestion:
    """A suggestion works when it is followed."""

    @pytest.mark.parametrize(
        ("query", "reference", "limit"),
        [
            ("tomatoes leaves shoots", "garden/compost.md", 1),
            ("leaves -tomatoes", "garden/compost.md", 1),
            ('leaves "side shoots"', "garden/compost.md", 1),
            ("leaves tag:summer", "garden/compost.md", 1),
            ("carrot AND walrus", "kitchen/soup.md", 1),
            ("carrot NOT salt", "kitchen/soup.md", 1),
            ("(carrot OR onions) title:compost", "kitchen/soup.md", 2),
        ],
    )
    def test_what_to_type(self, library: Library, query: str, reference: str, limit: int) -> None:
        """A search for the suggested query shows the document at the promised place."""
        suggestion = library.why(query, reference, limit=limit).suggestion
        assert suggestion is not None
        results = library.search(suggestion.query, limit=limit).results
        assert results[suggestion.rank - 1].path == reference

    def test_what_to_set(self, tmp_path: Path, vault: Path) -> None:
        """With the suggested threshold the search shows the document."""
        with opened(tmp_path, vault, search={"min_similarity": 0.9, "limit": 3}) as library:
            suggestion = library.why("leaves", "garden/compost.md", mode="semantic").suggestion
        assert suggestion is not None
        with opened(
            tmp_path, vault, search={"min_similarity": suggestion.value, "limit": 3}
        ) as library:
            results = library.search("leaves", mode="semantic").results
        assert results[suggestion.rank - 1].path == "garden/compost.md"

    def test_none_where_nothing_helps(self, library: Library) -> None:
        """A single word that the document lacks cannot be dropped, and nothing is made up."""
        found = library.why("carrot", "garden/compost.md", limit=1)
        assert found.standing == Standing.BELOW
        assert found.suggestion is None

    def test_a_pasted_page_ends(self, library: Library) -> None:
        """A query of very many words is tried a bounded number of times."""
        found = library.why("carrot " * 200, "garden/compost.md", limit=1)
        assert found.suggestion is None


class TestParts:
    """What can be dropped from a query."""

    @pytest.mark.parametrize(
        ("text", "parts"),
        [
            ("a b", ["a", "b"]),
            ('  "a b"  -"c d" e ', ['"a b"', '-"c d"', "e"]),
            ("«a b» c", ["«a b»", "c"]),
            ('title:"a b" #tag', ['title:"a b"', "#tag"]),
            ("(a OR b) c", ["(a OR b)", "c"]),
            ('NEAR(a "b c", 5) d', ['NEAR(a "b c", 5)', "d"]),
            ("don't won't", ["don't", "won't"]),
            ('a "b c', ["a", '"b', "c"]),
            ("a (b c", ["a", "(b", "c"]),
            ("", []),
        ],
    )
    def test_parts(self, text: str, parts: list[str]) -> None:
        """Quotations and groups are one part; what is not closed is words."""
        assert parts_of(text) == parts

    @pytest.mark.parametrize(
        ("text", "rests"),
        [
            ("a b c", ["b c", "a c", "a b"]),
            ("a AND b", ["b", "a"]),
            ("a OR b c", ["b c", "a c", "a OR b"]),
            ("a NOT b", ["NOT b", "a"]),
            ("a AND NOT b", ["NOT b", "a"]),
        ],
    )
    def test_dropping(self, text: str, rests: list[str]) -> None:
        """A part goes with the operator that tied it to the others."""
        parts = parts_of(text)
        assert [without(parts, at) for at in droppable(parts)] == rests

    @pytest.mark.parametrize(
        "text",
        [
            '"a b"',
            "-word",
            '-"a b"',
            "title:word",
            'NEAR(a "b c", 5)',
            "alpha OR beta",
            "-(alpha OR beta)",
            "body:(alpha AND beta)",
        ],
    )
    def test_demands_are_spelled_as_typed(self, text: str) -> None:
        """A demand reads as it could have been typed, and means the same when it is."""
        query = parse(text)
        assert query.clause is not None
        again = parse(clause_text(query.clause))
        assert again.clause == query.clause


@pytest.mark.parametrize(
    ("number", "said"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (13, "13th"),
     (21, "21st"), (101, "101st"), (111, "111th"), (1002, "1002nd")],
)  # fmt: skip
def test_ordinals(number: int, said: str) -> None:
    """Places are counted as people count them."""
    assert ordinal(number) == said


def test_the_limit_is_checked(library: Library) -> None:
    """A limit below one is refused."""
    with pytest.raises(BadInput):
        library.why("tea", "Tea", limit=0)


def test_searching_leaves_no_trace(library: Library) -> None:
    """A diagnosis changes no answer and can be had again."""
    before = library.search("tomatoes").results
    first = library.why("tomatoes leaves", "kitchen/soup.md", limit=1)
    again = library.why("tomatoes leaves", "kitchen/soup.md", limit=1)
    assert replace(first, took_ms=0) == replace(again, took_ms=0)
    assert library.search("tomatoes").results == before


@pytest.mark.slow
def test_with_the_real_model(tmp_path: Path, vault: Path) -> None:
    """The default model finds a note in another language, and the diagnosis says by what."""
    with indexed_library(vault, tmp_path / "real.db", "use", cache=tmp_path / "cache") as library:
        found = library.why("how do I steep green tea", "дом/чай.md")
    assert found.standing == Standing.SHOWN
    assert found.foreign
    assert opinion(found, Lane.DENSE).rank in (1, 2)
    assert found.passage is not None
    assert found.passage.similarity is not None
    assert found.passage.similarity > 0.3
