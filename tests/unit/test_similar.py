"""Similar documents: on real folders and a real database, with a quick embedder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import (
    embed,
    indexed_library,
    open_library,
    prepared,
    put,
    space,
    unit,
    write_notes,
)
from twolane import Capability, Library, Scope, Settings
from twolane.explain.similar import SimilarAnswer, Similarities
from twolane.model.answer import Lane
from twolane.model.document import Collection
from twolane.model.errors import AmbiguousDocument, BadInput, NoSuchDocument, NotPermitted
from twolane.ports.documents import PutCollection
from twolane.ports.vectors import PassageVector
from twolane.stores.memory import memory_stores
from twolane.stores.memory.vectors import MemoryVectors

NOTES = {
    "garden/tomatoes.md": "# Tomatoes\n\nSeedlings need light.\n\n## Blight\n\n"
    "Brown leaves on greenhouse tomatoes mean blight. See [[compost]].\n",
    "garden/compost.md": "# Compost\n\nBrown leaves and blight stay out of the greenhouse heap.\n",
    "garden/blight.md": "# Potato blight\n\nBrown leaves on potatoes mean blight, too.\n",
    "kitchen/soup.md": "# Soup\n\nOnions, water, salt and one carrot.\n",
    "kitchen/stock.md": "# Stock\n\nOnions, water and a carrot, but no salt.\n",
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "vault", NOTES)


@pytest.fixture
def library(tmp_path: Path, vault: Path) -> Iterator[Library]:
    with indexed_library(vault, tmp_path / "x.db") as library:
        yield library


def paths(answer: SimilarAnswer) -> list[str | None]:
    return [one.path for one in answer.results]


class TestMeaning:
    """By the vectors of passages."""

    def test_the_nearest_first(self, library: Library) -> None:
        """The most similar document comes first, and the document itself is not among them."""
        answer = library.similar("kitchen/soup.md")
        assert (answer.id, answer.title) == ("vault/kitchen/soup.md", "Soup")
        assert paths(answer)[0] == "kitchen/stock.md"
        assert set(paths(answer)) == set(NOTES) - {"kitchen/soup.md"}
        assert (answer.generation, answer.degraded) == (1, ())
        scores = [one.score for one in answer.results]
        assert scores == sorted(scores, reverse=True)

    def test_reasons(self, library: Library) -> None:
        """A result shows the closest passages of both, and rare words in its own forms."""
        answer = library.similar("garden/tomatoes.md")
        found = {one.path: one for one in answer.results}["garden/blight.md"]
        assert found.pair is not None
        assert found.pair.own.heading == ("Blight",)
        assert found.pair.own.lines == (5, 7)
        assert found.pair.other.lines == (1, 3)
        assert 0 < found.pair.similarity <= 1
        assert found.similarity is not None
        assert {"blight", "Brown", "leaves"} < set(found.shared)

    def test_any_name_will_do(self, library: Library) -> None:
        """The document may be named by id, path or title; an unknown name is an error."""
        by_path = library.similar("kitchen/soup.md")
        for reference in ("vault/kitchen/soup.md", "soup"):
            assert paths(library.similar(reference)) == paths(by_path)
        with pytest.raises(NoSuchDocument):
            library.similar("nothing")

    def test_ambiguous_names(self, library: Library, vault: Path) -> None:
        """A title of several documents lists them."""
        write_notes(vault, {"other/soup.md": "# Soup\n\nMilk."})
        library.index(vault)
        with pytest.raises(AmbiguousDocument):
            library.similar("Soup")

    def test_limit(self, library: Library) -> None:
        """The limit counts results, and must be at least one."""
        assert len(library.similar("soup", limit=2).results) == 2
        assert len(library.similar("soup", limit=99).results) == 4
        with pytest.raises(BadInput):
            library.similar("soup", limit=0)

    def test_scope_comes_before_the_limit(self, library: Library) -> None:
        """Documents out of scope do not use up the limit; the document itself may be out of it."""
        scope = Scope(paths=("garden",))
        answer = library.similar("soup", scope=scope, limit=3)
        assert sorted(map(str, paths(answer))) == sorted(n for n in NOTES if "garden" in n)

    def test_hidden_and_archived(self, library: Library, vault: Path) -> None:
        """Excluded documents are never similar, archived ones only when asked for."""
        text = "Onions, water, salt and one carrot.\n"
        write_notes(vault, {"closed.md": f"---\nsearch: false\n---\n{text}"})
        write_notes(vault, {"old.md": f"---\narchived: true\n---\n{text}"})
        library.index(vault)
        library.embed()
        assert not {"closed.md", "old.md"} & set(paths(library.similar("soup")))
        archived = library.similar("soup", scope=Scope(archived=True))
        assert paths(archived)[0] == "old.md"
        assert "closed.md" not in paths(archived)
        assert paths(library.similar("old.md"))[0] == "kitchen/soup.md"
        with pytest.raises(NoSuchDocument):
            library.similar("closed.md")

    def test_no_model_is_needed(self, tmp_path: Path, library: Library) -> None:
        """Stored vectors are enough: an embedder that is switched off changes nothing."""
        with open_library(tmp_path / "x.db", "none") as other:
            answer = other.similar("soup")
        assert answer.degraded == ()
        assert paths(answer) == paths(library.similar("soup"))


class TestLinks:
    """Documents that are linked already."""

    def test_links_are_told(self, library: Library) -> None:
        """A linked document is marked, in whichever direction the link goes."""
        for reference in ("garden/tomatoes.md", "garden/compost.md"):
            answer = library.similar(reference)
            assert [one.path for one in answer.results if one.linked] == [
                {"garden/tomatoes.md": "garden/compost.md"}.get(reference, "garden/tomatoes.md")
            ]

    def test_linked_ones_can_be_left_out(self, library: Library) -> None:
        """Without linked documents the others take their places."""
        answer = library.similar("garden/tomatoes.md", exclude_linked=True, limit=3)
        assert len(answer.results) == 3
        assert "garden/compost.md" not in paths(answer)

    def test_however_many_are_linked(self, tmp_path: Path, vault: Path) -> None:
        """If linked documents fill the pool, the search goes on until the limit is reached."""
        many = {f"copies/{n}.md": f"# Copy {n}\n\nOnions, water, salt, carrot.\n" for n in range(9)}
        links = " ".join(f"[[{n}]]" for n in range(9))
        write_notes(vault, many)
        write_notes(vault, {"hub.md": f"# Hub\n\nOnions, water, salt, carrot. {links}\n"})
        with indexed_library(vault, tmp_path / "y.db", search={"pool": 1}) as library:
            answer = library.similar("hub.md", exclude_linked=True, limit=5)
        assert set(paths(answer)) == set(NOTES)


class TestTemplates:
    """Text that many documents share makes nothing similar."""

    FORM = (
        "## Before you file this\n\nCheck owner, date and place. Ask a colleague to read it once. "
        "Remove what is out of date and say what the page is for."
    )

    def test_a_form_does_not_outweigh_the_content(self, tmp_path: Path) -> None:
        """Notes on one topic come before notes that only share a filled-in form."""
        topics = [
            "onions carrot water salt. ",
            "rook pawn bishop knight. ",
            "chain sprocket gear hub. ",
            "planner index table vacuum. ",
        ]
        notes = {
            f"{topic.split()[0]}{n}.md": f"# {'AB'[n]}\n\n{3 * topic}\n\n{self.FORM}\n"
            for topic in topics
            for n in range(2)
        }
        # The form is longer than the content, and this one has the content alone.
        notes["bare.md"] = "# Bare\n\nonions carrot water.\n"
        with indexed_library(write_notes(tmp_path / "forms", notes), tmp_path / "x.db") as library:
            answer = library.similar("onions0.md")
        assert set(paths(answer)[:2]) == {"onions1.md", "bare.md"}
        for one in answer.results[:2]:
            assert one.pair is not None
            assert one.pair.own.heading == ()

    def test_a_form_below_the_title(self, tmp_path: Path) -> None:
        """A passage of title and form is no reason, nor are the words of the form."""
        topics = ["onions carrot", "rook pawn", "chain sprocket", "planner index"]
        form = "## Agenda\n\n- Status update\n- Open questions\n\n## Notes\n\n"
        notes = {
            f"{topic.split()[0]}{n}.md": f"# Meeting {topic} {n}\n\n{form}{topic} number{n}\n"
            for topic in topics
            for n in range(2)
        }
        with indexed_library(write_notes(tmp_path / "forms", notes), tmp_path / "x.db") as library:
            answer = library.similar("onions0.md")
        assert paths(answer)[0] == "onions1.md"
        for one in answer.results:
            assert one.pair is not None
            assert one.pair.own.heading[-1] == "Notes"
            assert not {"Agenda", "Status", "update", "Open", "questions"}.intersection(one.shared)
        assert set(answer.results[0].shared) == {"onions", "carrot"}

    def test_documents_that_are_all_form(self, tmp_path: Path) -> None:
        """Copies of one page are still similar to each other."""
        notes = {f"{n}.md": f"# Page\n\n{self.FORM}\n" for n in range(6)}
        notes["other.md"] = "# Other\n\nrook and pawn\n"
        with indexed_library(write_notes(tmp_path / "forms", notes), tmp_path / "x.db") as library:
            answer = library.similar("0.md")
        assert paths(answer)[-1] == "other.md"


class TestWords:
    """Without vectors."""

    def test_words_decide(self, tmp_path: Path, vault: Path) -> None:
        """Before vectors exist, rare shared words order the answer, and it says so."""
        with open_library(tmp_path / "y.db") as library:
            library.index(vault)
            answer = library.similar("soup")
        assert paths(answer)[0] == "kitchen/stock.md"
        assert "kitchen/soup.md" not in paths(answer)
        assert [one.lane for one in answer.degraded] == [Lane.DENSE]
        assert answer.generation is None
        (first, *_) = answer.results
        assert (first.similarity, first.pair) == (None, None)
        assert {"Onions", "carrot"} <= set(first.shared)

    def test_a_new_document_among_old_ones(self, library: Library, vault: Path) -> None:
        """A document that waits for its vectors is judged by words."""
        write_notes(vault, {"new.md": "# New\n\nPotatoes with brown leaves and blight.\n"})
        library.index(vault)
        answer = library.similar("new.md")
        assert "new.md" in answer.degraded[0].reason
        assert paths(answer)[0] == "garden/blight.md"

    def test_meaning_needs_a_capability(self, library: Library) -> None:
        """Without the capability to search by meaning, words decide."""
        answer = library.similar("soup", scope=Scope(capabilities=frozenset({Capability.SEARCH})))
        assert "search.semantic" in answer.degraded[0].reason
        assert paths(answer)[0] == "kitchen/stock.md"

    def test_searching_needs_a_capability(self, library: Library) -> None:
        """Without the capability to search nothing is said, not even that a name is unknown."""
        for reference in ("soup", "nothing"):
            with pytest.raises(NotPermitted):
                library.similar(reference, scope=Scope(capabilities=frozenset()))

    def test_a_document_without_words(self, tmp_path: Path, vault: Path) -> None:
        """A document that says nothing is similar to nothing."""
        write_notes(vault, {"empty.md": "---\ntitle: '42'\n---\n"})
        with open_library(tmp_path / "y.db", "none") as library:
            library.index(vault)
            assert library.similar("empty.md").results == ()


class TestKeeping:
    """An answer is kept until the content changes."""

    def test_the_same_answer(self, library: Library) -> None:
        """Asked twice, the very same results come back."""
        first, again = library.similar("soup"), library.similar("soup")
        assert again.results is first.results

    def test_nothing_is_compared_again(self) -> None:
        """A kept answer asks the store for no vector."""
        store = memory_stores()
        store.documents.apply(PutCollection(Collection("notes")))
        generation = store.vectors.open_generation(space()).number
        for id in "ab":
            put(store, one := prepared(id, f"body of {id}"))
            embed(store, generation, one, unit(1, 0, 0, 0))
        looks = 0

        def look(generation: int, ids: Sequence[str]) -> Mapping[str, list[PassageVector]]:
            nonlocal looks
            looks += 1
            return MemoryVectors.get(store.vectors, generation, ids)  # type: ignore[arg-type]

        store.vectors.get = look  # type: ignore[method-assign]
        similarities = Similarities(store, Settings())
        first = similarities.similar("a", Scope(), limit=5)
        before = looks
        again = similarities.similar("a", Scope(), limit=5)
        assert again.results is first.results
        assert looks == before > 0

    def test_other_questions_have_other_answers(self, library: Library) -> None:
        """Limit, scope and links are part of the question."""
        library.similar("soup")
        assert len(library.similar("soup", limit=1).results) == 1
        assert len(library.similar("soup", scope=Scope(paths=("garden",))).results) == 3
        assert len(library.similar("garden/tomatoes.md", exclude_linked=True).results) == 3
        assert len(library.similar("garden/tomatoes.md").results) == 4

    def test_changes_are_seen(self, library: Library, vault: Path) -> None:
        """A document that comes, changes or goes shows in the next answer."""
        assert paths(library.similar("soup"))[0] == "kitchen/stock.md"
        write_notes(vault, {"kitchen/broth.md": "# Broth\n\nOnions, water, salt and one carrot.\n"})
        library.index(vault)
        library.embed()
        assert paths(library.similar("soup"))[0] == "kitchen/broth.md"
        (vault / "kitchen/broth.md").unlink()
        library.index(vault)
        assert paths(library.similar("soup"))[0] == "kitchen/stock.md"

    def test_another_process_changes_something(
        self, library: Library, vault: Path, tmp_path: Path
    ) -> None:
        """What another opening of the database writes is seen, too."""
        before = paths(library.similar("soup"))
        with open_library(tmp_path / "x.db") as other:
            write_notes(
                vault, {"kitchen/broth.md": "# Broth\n\nOnions, water, salt, one carrot.\n"}
            )
            other.index(vault)
            other.embed()
        assert paths(library.similar("soup")) != before

    def test_only_so_many_are_kept(self, library: Library) -> None:
        """The oldest answers go when there are too many."""
        first = library.similar("soup")
        for limit in range(1, 200):
            library.similar("kitchen/stock.md", limit=limit)
        assert library.similar("soup").results is not first.results
        assert library.similar("soup").results == first.results


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.lists(st.sampled_from("abcd"), min_size=1, max_size=3),
            st.booleans(),
            st.sampled_from(("ann", "bob")),
        ),
        min_size=1,
        max_size=8,
    ),
    limit=st.integers(1, 9),
    pool=st.integers(1, 9),
)
def test_k_is_guaranteed(rows: list[tuple[list[str], bool, str]], limit: int, pool: int) -> None:
    """There are as many results as the limit or the documents in scope with vectors allow."""
    vectors = {letter: unit(*[letter == one for one in "abcd"]) for letter in "abcd"}
    store = memory_stores()
    store.documents.apply(PutCollection(Collection("notes")))
    generation = store.vectors.open_generation(space()).number
    for number, (letters, archived, owner) in enumerate(rows):
        body = "\n\n".join(f"{letter} {number} {at}" for at, letter in enumerate(letters))
        one = prepared(str(number), body, archived=archived, owner=owner)
        put(store, one)
        embed(store, generation, one, *(vectors[letter] for letter in letters))
    similarities = Similarities(store, Settings(search={"pool": pool}))
    owner = rows[0][2]
    answer = similarities.similar("0", Scope(owner=owner), limit=limit)
    others = [row for row in rows[1:] if row[2] == owner and not row[1]]
    assert len(answer.results) == min(limit, len(others))
    ranked = [(-one.score, one.id) for one in answer.results]
    assert ranked == sorted(ranked)
    again = Similarities(store, Settings(search={"pool": pool})).similar(
        "0", Scope(owner=owner), limit=limit
    )
    assert replace(again, took_ms=0) == replace(answer, took_ms=0)


@pytest.mark.slow
def test_with_the_real_model(tmp_path: Path, vault: Path) -> None:
    """The default model brings a note on the same topic in another language before all others."""
    write_notes(vault, {"кухня/бульон.md": "# Овощной бульон\n\nЛук, вода, морковь и соль.\n"})
    with indexed_library(vault, tmp_path / "real.db", "use", cache=tmp_path / "cache") as library:
        answer = library.similar("kitchen/soup.md")
    assert set(paths(answer)[:2]) == {"kitchen/stock.md", "кухня/бульон.md"}
