"""Switching the model: never an empty search, never two spaces compared, always a way back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.builders import write_notes
from tests.embedders import Counting, Poisoned
from twolane import Library, Settings
from twolane.embedding.embedders.ensemble import EnsembleEmbedder
from twolane.embedding.embedders.hashing import HashingEmbedder
from twolane.embedding.pipeline.switching import Verdict
from twolane.embedding.spaces import Embedders
from twolane.model.draft import Draft
from twolane.model.errors import BadInput
from twolane.model.space import Generation, GenerationState, Space
from twolane.ports.embedder import Embedder
from twolane.stores.sqlite import open_stores

if TYPE_CHECKING:
    from twolane.ports.vectors import Matrix

Opener = Callable[..., Library]

NOTES = {
    f"n{number}.md": f"# Note {number}\n\n"
    + "\n\n".join(
        f"## Part {part}\n\nA bee number {part} of hive {number}. " * 30 for part in range(3)
    )
    for number in range(12)
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A few notes of three sections."""
    return write_notes(tmp_path / "notes", NOTES)


@pytest.fixture
def open_library(tmp_path: Path) -> Iterator[Opener]:
    """Opens libraries of one database; every embedder that was ever used can be found again."""
    opened: list[Library] = []
    seen: dict[Space, Embedder] = {}

    def open_one(*embedders: Embedder, forget: bool = False, **settings: object) -> Library:
        if forget:
            seen.clear()
        seen.update({one.space: one for one in embedders})
        chosen = Settings(db=tmp_path / "x.db", embedding={"save_seconds": 5.0}).changed(**settings)
        store = open_stores(tmp_path / "x.db")
        opened.append(Library(store, chosen, Embedders(*embedders, find=seen.get)))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


def embed_by_the_old(open_library: Opener, vault: Path) -> None:
    """Index the vault and embed all of it with the embedder that served before."""
    library = open_library(Counting("old"))
    library.index(vault)
    library.embed()


def states(library: Library) -> list[str]:
    """What each generation is for, oldest first."""
    return [one.state.value for one, _ in library.generations()]


class TestSwitch:
    """From one embedder to another."""

    def test_the_old_vectors_answer_until_the_new_ones_are_complete(
        self, open_library: Opener, vault: Path
    ) -> None:
        """A new embedder changes nothing until it has embedded everything; then it serves."""
        embed_by_the_old(open_library, vault)
        new = open_library(Counting("new"))
        before = new.search("bee", mode="semantic")
        assert (before.generation, before.degraded) == (1, ())
        assert new.embed().took_over == 2
        assert new.search("bee", mode="semantic").generation == 2
        assert states(new) == ["retired", "serving"]

    def test_going_back_costs_nothing(self, open_library: Opener, vault: Path) -> None:
        """The vectors that were replaced are kept, and serve again without being made again."""
        embed_by_the_old(open_library, vault)
        open_library(Counting("new")).embed()
        back = Counting("old")
        library = open_library(back)
        done = library.embed()
        assert (done.embedded, done.took_over, sum(back.texts.values())) == (0, 1, 0)

    def test_old_generations_are_collected(self, open_library: Opener, vault: Path) -> None:
        """Only as many replaced ones are kept as the setting says."""
        open_library(Counting("one")).index(vault)
        for name in ("one", "two", "three", "four"):
            open_library(Counting(name), embedding={"keep_generations": 1}).embed()
        assert states(open_library(Counting("four"))) == ["retired", "serving"]
        open_library(Counting("five"), embedding={"keep_generations": 0}).embed()
        assert states(open_library(Counting("five"))) == ["serving"]

    def test_a_passage_that_nobody_can_read_stops_no_switch(
        self, open_library: Opener, vault: Path
    ) -> None:
        """One failure for good in a hundred is no reason to keep the old vectors; more are."""
        notes = {f"m{number}.md": f"# M {number}\n\ntext {number}" for number in range(120)}
        write_notes(vault, notes)
        old = open_library(Counting("old"))
        write_notes(vault, {"bad.md": "# Bad\n\npoison"})
        old.index(vault)
        old.embed()
        assert open_library(Poisoned(), embedding={"passage_tries": 2}).embed().took_over is None
        store = open_library(Poisoned(), embedding={"passage_tries": 1})
        assert store.embed(retry_failed=True).took_over == 2

    def test_rollback_holds_the_new_one_back(self, open_library: Opener, vault: Path) -> None:
        """After a rollback the old vectors serve and get what is new; the new ones wait."""
        embed_by_the_old(open_library, vault)
        library = open_library(Counting("new"))
        library.embed()
        assert library.roll_back_generation().number == 1
        assert states(library) == ["serving", "held"]
        library.save(Draft("x", title="X", body="quite another thing"))
        assert library.embed().took_over is None
        assert library.search("another thing", mode="semantic").results[0].id == "x"
        library.activate_generation(2)
        assert states(library) == ["retired", "serving"]
        assert library.embed().pending == 0

    def test_what_cannot_be_done_is_said(self, open_library: Opener, vault: Path) -> None:
        """A generation that is not there, or serves, or nothing to go back to: a clear error."""
        library = open_library(Counting())
        with pytest.raises(BadInput, match="no earlier generation"):
            library.roll_back_generation()
        library.index(vault)
        library.embed()
        with pytest.raises(BadInput, match="no generation 7"):
            library.activate_generation(7)
        with pytest.raises(BadInput, match="no generation 7"):
            library.drop_generation(7)
        with pytest.raises(BadInput, match="answers searches"):
            library.drop_generation(1)

    def test_a_model_that_is_gone(self, open_library: Opener, vault: Path) -> None:
        """Older vectors whose embedder is there answer instead, and the answer says so."""
        embed_by_the_old(open_library, vault)
        open_library(Counting("new")).embed()
        left = open_library(Counting("old"), forget=True)
        answer = left.search("bee", mode="semantic")
        assert answer.generation == 1 and answer.results
        assert "generation 2" in answer.degraded[0].reason
        assert "generation 2" in left.status().degraded[0].reason


class TestGate:
    """Somebody else decides whether new vectors may serve."""

    def test_what_is_refused_is_held_until_it_passes(
        self, open_library: Opener, vault: Path
    ) -> None:
        """The old vectors go on; a later gate may let the new ones through."""
        embed_by_the_old(open_library, vault)
        asked: list[tuple[int, int]] = []

        def gate(candidate: Generation, serving: Generation) -> Verdict:
            asked.append((candidate.number, serving.number))
            return Verdict(len(asked) > 1, "worse")

        library = open_library(Counting("new"))
        assert library.embed(gate=gate).refused == "worse"
        assert states(library) == ["serving", "held"]
        assert library.embed().took_over is None
        assert library.embed(gate=gate).took_over == 2
        assert asked == [(2, 1), (2, 1)]

    def test_the_gate_of_a_library_judges_once(self, open_library: Opener, vault: Path) -> None:
        """What it refused is not judged again by itself, and the reason is kept with it."""
        embed_by_the_old(open_library, vault)
        asked: list[int] = []

        def gate(candidate: Generation, serving: Generation) -> Verdict:
            asked.append(candidate.number)
            return Verdict(False, "worse by far")

        library = open_library(Counting("new"))
        library.guard(gate)
        assert library.embed().refused == "worse by far"
        library.save(Draft("x", title="X", body="quite another thing"))
        assert (library.embed().refused, library.embed().took_over) == (None, None)
        assert asked == [2]
        refused = library.generations()[1][0]
        assert (refused.state, refused.reason) == (
            GenerationState.HELD,
            "refused by the gate: worse by far",
        )
        library.activate_generation(2)
        assert library.generations()[1][0].reason is None

    def test_a_gate_that_is_only_set_is_not_passed(self, open_library: Opener, vault: Path) -> None:
        """A program that brings no gate switches nothing where the settings ask for one."""
        embed_by_the_old(open_library, vault)
        library = open_library(Counting("new"), embedding={"gate": vault / "golden.json"})
        assert library.embed().took_over is None
        assert states(library) == ["serving", "filling"]
        library.guard(lambda candidate, serving: Verdict(True, "fine"))
        assert library.embed().took_over == 2

    def test_what_serves_is_completed_however_much_is_missing(
        self, open_library: Opener, vault: Path
    ) -> None:
        """Where the only wanted vectors are held back, new notes get those that serve."""
        embed_by_the_old(open_library, vault)
        library = open_library(Counting("new"))
        library.guard(lambda candidate, serving: Verdict(False, "no"))
        library.embed()
        write_notes(vault, {f"m{number}.md": f"# M {number}\n\ntext" for number in range(250)})
        library.index(vault)
        library.embed()
        (serving, progress), _ = library.generations()
        assert (serving.state, progress.pending) == (GenerationState.SERVING, 0)

    def test_a_generation_can_be_asked_before_it_serves(
        self, open_library: Opener, vault: Path
    ) -> None:
        """Both generations answer to whoever judges them."""
        embed_by_the_old(open_library, vault)
        library = open_library(Counting("new"))
        library.embed(gate=lambda candidate, serving: Verdict(False, "no"))
        for number in (1, 2):
            with library.answering_from(number) as other:
                answer = other.search("bee", mode="semantic")
                assert answer.generation == number and answer.results
        assert library.search("bee", mode="semantic").generation == 1


class TestTwoSpaces:
    """A fast space now, a better one later."""

    def test_new_text_is_found_before_the_better_space_has_it(
        self, open_library: Opener, vault: Path
    ) -> None:
        """While the better one lacks a note, the fast one answers as a whole; then it is back."""
        library = open_library(Counting("fast"), Counting("good"))
        library.index(vault)
        library.embed()
        assert states(library) == ["serving"]
        assert library.embed(all_spaces=True).took_over == 2
        assert states(library) == ["standby", "serving"]
        assert library.search("bee", mode="semantic").generation == 2
        library.save(Draft("x", title="X", body="quite another thing"))
        answer = library.search("another thing", mode="semantic")
        assert (answer.generation, answer.results[0].id) == (1, "x")
        library.embed()
        answer = library.search("another thing", mode="semantic")
        assert (answer.generation, answer.results[0].id) == (2, "x")

    def test_a_backfill_ends_whatever_another_space_lacks(
        self, open_library: Opener, vault: Path
    ) -> None:
        """Failures of a space that nobody asked to fill are not waited for."""
        library = open_library(
            Counting("fast"), Poisoned("hive 3"), embedding={"retry_seconds": 0.0}
        )
        library.index(vault)
        assert library.embed(all_spaces=True).failed
        done = library.embed(backfill=True)
        assert (done.embedded, done.pending, done.stopped) == (0, 0, None)

    def test_a_rollback_keeps_the_better_space_back(
        self, open_library: Opener, vault: Path
    ) -> None:
        """Who goes back to the fast space stays there."""
        library = open_library(Counting("fast"), Counting("good"))
        library.index(vault)
        library.embed(all_spaces=True)
        library.roll_back_generation()
        library.embed(all_spaces=True)
        assert states(library) == ["serving", "held"]


def hammered(library: Library, work: Callable[[], object]) -> list[tuple[int | None, int]]:
    """(generation, results) of every search while the work is done; each must have succeeded."""
    answers: list[tuple[int | None, int]] = []
    failures: list[object] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            answer = library.search("bee of a hive", mode="semantic")
            answers.append((answer.generation, len(answer.results)))
            failures.extend(answer.degraded)

    readers = [threading.Thread(target=ask) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        work()
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert not failures
    return answers


class TestUnderLoad:
    """Switches while others search."""

    def test_a_switch_of_models_empties_no_search(self, open_library: Opener, vault: Path) -> None:
        """Three switches, with old vectors deleted at once: no failed and no empty answer."""
        library = open_library(Counting("zero"))
        library.index(vault)
        library.embed()
        switching = [
            open_library(Counting(f"model {n}"), embedding={"keep_generations": 0})
            for n in range(3)
        ]
        answers = hammered(library, lambda: [one.embed() for one in switching])
        assert all(count == len(NOTES) for _, count in answers)
        assert library.search("bee", mode="semantic").generation == 4

    def test_text_cut_anew_is_found_by_its_words(self, open_library: Opener, vault: Path) -> None:
        """Passages that wait for their vectors are found by words, and the answer says so."""
        library = open_library(Counting(), index={"batch": 2})
        library.index(vault)
        library.embed()
        cut = open_library(Counting(), index={"batch": 2, "chunk_tokens": 128})
        found = {one.id for one in library.search("bee").results}
        assert cut.index(vault).indexed == len(NOTES)
        assert cut.status().progress.pending > 0
        answer = cut.search("bee")
        assert answer.results
        assert {one.id for one in answer.results} <= found
        assert ["wait" in one.reason for one in answer.degraded] == [True]
        cut.embed()
        assert not cut.search("bee").degraded
        assert {one.id for one in cut.search("bee").results} == found


class TestOnce:
    """What was embedded is not embedded again."""

    @pytest.fixture
    def embedder(self) -> Counting:
        """Counts what it embeds."""
        return Counting()

    @pytest.fixture
    def library(self, open_library: Opener, vault: Path, embedder: Counting) -> Library:
        """A library that is complete."""
        opened = open_library(embedder)
        opened.index(vault)
        opened.embed()
        embedder.texts.clear()
        return opened

    def test_unchanged(self, library: Library, vault: Path, embedder: Counting) -> None:
        """An unchanged vault, indexed and embedded again, costs no call at all."""
        library.index(vault)
        library.embed(backfill=True, retry_failed=True)
        assert not embedder.texts

    def test_renamed(self, library: Library, vault: Path, embedder: Counting) -> None:
        """Files that are renamed and have their titles in their text cost no call at all."""
        (vault / "moved").mkdir()
        for name in NOTES:
            (vault / name).rename(vault / "moved" / f"new {name}")
        assert library.index(vault, prune=True).indexed == len(NOTES)
        assert len(library.served()) == len(NOTES)
        library.embed()
        assert not embedder.texts

    def test_edited(self, library: Library, vault: Path, embedder: Counting) -> None:
        """An edit of one paragraph costs no more than the passages of its section."""
        note = vault / "n3.md"
        text = note.read_text("utf-8")
        note.write_text(text.replace("A bee number 1", "Two bees number 1", 1), "utf-8")
        library.index(vault)
        library.embed()
        assert 1 <= sum(embedder.texts.values()) <= 2
        assert all("Part 1" in text for text in embedder.texts)


def test_stored_vectors_are_reused(tmp_path: Path, vault: Path) -> None:
    """The ensemble runs its first model only for what its space does not hold."""

    class WithSentences(Counting):
        sentences = 0

        @property
        def space(self) -> Space:
            return replace(super().space, sentences=f"0:{super().space.dimensions}")

        def embed_sentences(self, texts: Sequence[str]) -> Matrix:
            self.sentences += len(texts)
            return HashingEmbedder.embed_passages(self, texts)

    first, second = WithSentences("first"), Counting("second")
    both = EnsembleEmbedder(first, second)
    store = open_stores(tmp_path / "x.db")
    with Library(
        store, Settings(embedding={"save_seconds": 0.0}), Embedders(first, both)
    ) as library:
        library.index(vault)
        library.embed()
        once, sentences = sum(first.texts.values()), first.sentences
        assert sentences
        assert library.embed(all_spaces=True).took_over == 2
        assert (sum(first.texts.values()), first.sentences) == (once, sentences)
        assert sum(second.texts.values()) == once
        held = [one.state for one, _ in library.generations()]
        assert held == [GenerationState.STANDBY, GenerationState.SERVING]
