"""Forms: which lines they are, and what is embedded without them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import chunks_in, open_library, write_notes
from twolane import Draft, Library
from twolane.ingest.chunking import embedded_sentences, embedded_text, plain
from twolane.ingest.chunking.boilerplate import (
    FEWEST,
    common_lines,
    key_of,
    lines_of,
    own_sentence_at,
    stripped,
)
from twolane.ingest.chunking.splitting import own_sentences, sentences
from twolane.model.document import Chunk
from twolane.model.scope import ANYWHERE

FORM = "Mood:\n- [ ] Water the plants\n"
FOOTER = "---\nThis note may be copied by everybody who names the author of it.\n"
SUBJECTS = ("bees", "chess", "bread", "boats", "glass", "stars", "bells", "kites", "inks", "moss")


def keys(*lines: str) -> frozenset[int]:
    """The keys of these lines."""
    return frozenset(key_of(line) for text in lines for line in lines_of(text))


def rest(markdown: str, *forms: str) -> str | None:
    """What remains of a passage without these forms; None if it holds none."""
    own = stripped(markdown, keys(*forms))
    return own.rest if own else None


class TestLines:
    """What counts as the same line."""

    @pytest.mark.parametrize(
        "line",
        ["- [x] Water the plants", "## water  the plants", "> **Water the plants**"],
    )
    def test_marks_case_and_blanks_do_not_matter(self, line: str) -> None:
        """A line is the same in a list, in a heading and in a quotation."""
        assert keys(line) == keys("- [ ] Water the plants")

    def test_five_documents_make_a_form(self) -> None:
        """Fewer are a coincidence, and a line that stands twice in one counts once."""
        bodies = ["Mood:\nMood:\nOne.", *["Mood:\n1."] * 3]
        assert common_lines(lambda: bodies) == frozenset()
        assert common_lines(lambda: [*bodies, "mood:"]) == {"mood:"}

    def test_many_is_more_in_a_large_library(self) -> None:
        """A fiftieth of the documents, or the square root of their number if that is less."""

        def is_boilerplate(holding: int, documents: int) -> bool:
            bodies = [f"{'A line' if n < holding else ''}\n{n} own words" for n in range(documents)]
            return "a line" in common_lines(lambda: bodies)

        assert [is_boilerplate(holding, 1000) for holding in (19, 20)] == [False, True]
        assert [is_boilerplate(holding, 10_000) for holding in (99, 100)] == [False, True]


class TestParting:
    """What remains of a passage."""

    def test_forms_are_left_out(self) -> None:
        """The lines of the form go, with the blank lines that they leave, and all others stay."""
        text = f"{FORM}\nThe queen was seen.\n\n{FOOTER}"
        assert rest(text, FORM, FOOTER) == "The queen was seen."
        assert rest(text, "Another line") is None

    def test_a_field_goes_with_its_label(self) -> None:
        """A few words after a label that is a form go, a sentence after it stays with it."""
        long = "Mood: we talked until late in the night about the harvest"
        assert rest("**Mood:** rather good\nOwn words.", "Mood:") == "Own words."
        assert rest(f"{long}\nOwn words.", "Mood:") is None
        assert rest("See https://mood: here\nOwn words.", "Mood:") is None

    @pytest.mark.parametrize("text", ["Mood:", "# Monday\n\nMood:\n\n---", "Mood:\n* * *\n!?"])
    def test_nothing_remains_of_a_form_alone(self, text: str) -> None:
        """Headings and signs are no text; such a passage is embedded as it is."""
        assert rest(text, "Mood:") == ""
        assert embedded_text("Day", (), text, tuple(keys("Mood:"))) == f"Day\n\n{plain(text)}"

    def test_code_is_left_alone(self) -> None:
        """Marks in code are code, so its lines are not those of a form."""
        text = "```\n- [ ] Water the plants\n```\nOwn words."
        assert rest(text, FORM) is None

    @given(
        st.lists(
            st.sampled_from(["Mood:", "Mood: ok", "- [ ] Go", "Own.", "# H", "", "x: y", "🙂"])
        ),
        st.sets(st.sampled_from(["Mood:", "Go", "🙂", "H"])),
    )
    def test_no_other_line_goes(self, lines: list[str], forms: set[str]) -> None:
        """Whatever is not a form remains in order, and the passage reads as before."""
        markdown = "\n".join(lines)
        known = keys(*forms)
        own = stripped(markdown, known)
        if own is None:
            assert not any(known & keys(line) for line in lines)
            return
        assert own.whole == plain(markdown)
        left = [line for line in lines if not known & keys(line)]
        if own.rest:
            assert own.rest.split() == plain("\n".join(left)).split()
        assert set(own.keys) <= known


class TestSentences:
    """Sentences keep their places."""

    def test_a_form_is_no_sentence(self) -> None:
        """A sentence that is a form is empty, one that begins with a form is without it."""
        text = f"{FORM}\nThe queen was seen on the third frame.\n\n{FOOTER}"
        found = embedded_sentences("Hive", (), text, tuple(keys(FORM, FOOTER)))
        assert found == ["Hive\n\nThe queen was seen on the third frame.", ""]
        assert len(found) == len(sentences(plain(text)))
        own = own_sentence_at(text, plain(text), keys(FORM, FOOTER), 0)
        assert own == "The queen was seen on the third frame."
        assert own_sentence_at(text, plain(text), keys(FORM, FOOTER), 2) is None
        assert own_sentence_at(FORM, plain(FORM), keys(FORM), 0) == "Mood: Water the plants"

    def test_no_sentence_is_left_of_a_few_words(self) -> None:
        """A passage whose own words are too few for a sentence is compared as a whole."""
        text = f"{FORM}\nYes.\n\n{FOOTER}"
        assert embedded_text("Hive", (), text, tuple(keys(FORM, FOOTER))) == "Hive\n\nYes."
        assert embedded_sentences("Hive", (), text, tuple(keys(FORM, FOOTER))) == []

    @given(st.lists(st.tuples(st.text("ab. \n", max_size=40), st.booleans())))
    def test_the_places_do_not_depend_on_forms(self, lines: list[tuple[str, bool]]) -> None:
        """Sentences are counted over the whole text, and hold nothing that is not in it."""
        lines = [(line.replace("\n", " "), is_boilerplate) for line, is_boilerplate in lines]
        own = own_sentences(lines)
        whole = sentences("\n".join(line for line, _ in lines))
        assert len(own) == len(whole)
        for one, left in zip(whole, own, strict=True):
            assert left in one or set(left.split()) <= set(one.split())


def notes(subjects: tuple[str, ...]) -> dict[str, str]:
    """A note about each subject, in a form and with a footer."""
    return {
        f"{one}.md": f"# About {one}\n\n{FORM}\nAll that I know of {one}.\n\n{FOOTER}"
        for one in subjects
    }


def passages(library: Library) -> list[Chunk]:
    """All passages, by document."""
    ids = sorted(one.id for one in library._stores.documents.list(ANYWHERE))
    return [chunk for id in ids for chunk in chunks_in(library._stores, id)]


def row_number(key: int) -> bytes:
    """How SQLite writes a large row number: eight times seven bits, then eight."""
    bits = key % 2**64
    first = [0x80 | (bits >> 8 + 7 * place & 0x7F) for place in range(7, -1, -1)]
    return bytes([*first, bits & 0xFF])


class TestLearning:
    """When forms are learned, and what follows from it."""

    def test_learned_before_anything_is_embedded(self, library: Library, tmp_path: Path) -> None:
        """The first run embeds every passage once, without its form."""
        root = write_notes(tmp_path / "v", notes(SUBJECTS[:5]))
        library.index(root)
        assert library.embed().embedded == 5
        assert library._stores.documents.boilerplate().keys == keys(FORM, FOOTER)
        assert all(set(one.boilerplate) == keys(FORM, FOOTER) for one in passages(library))
        assert library.embed().embedded == 0

    def test_new_documents_know_them(self, library: Library, tmp_path: Path) -> None:
        """What is indexed or saved later is embedded without the forms that are known."""
        library.index(write_notes(tmp_path / "v", notes(SUBJECTS[:5])))
        library.embed()
        library.index(write_notes(tmp_path / "v", notes(SUBJECTS[:6])))
        library.save(Draft("s", title="Saved", body=f"{FORM}\nAll about salt."))
        held = {one: chunks_in(library._stores, one)[0] for one in ("s", "v/stars.md")}
        assert set(held["s"].boilerplate) == keys(FORM)
        assert set(held["v/stars.md"].boilerplate) == keys(FORM, FOOTER)
        assert library.embed().pending == 0

    def test_learned_anew_when_there_are_twice_as_many(
        self, library: Library, tmp_path: Path
    ) -> None:
        """A form that comes up later is found then, and its passages are embedded again."""
        plain_notes = {f"{one}.md": f"All that I know of {one}." for one in SUBJECTS[:5]}
        library.index(write_notes(tmp_path / "v", plain_notes))
        library.embed()
        library.index(write_notes(tmp_path / "v", notes(SUBJECTS[5:9])))
        library.embed()
        assert library._stores.documents.boilerplate().documents == 5
        library.index(write_notes(tmp_path / "v", notes(SUBJECTS[5:])))
        assert library.embed().embedded == 5
        assert library._stores.documents.boilerplate().keys == keys(FORM, FOOTER)

    def test_found_by_words_and_shown(self, library: Library, tmp_path: Path) -> None:
        """The lines of a form are searched, shown and got like any other."""
        library.index(write_notes(tmp_path / "v", notes(SUBJECTS)))
        library.embed()
        answer = library.search("water the plants", mode="lexical")
        assert len(answer.results) == len(SUBJECTS)
        assert "<mark>Water</mark>" in answer.results[0].snippet
        assert FORM in library.document("v/bees.md").body

    def test_meaning_is_that_of_the_rest(self, library: Library, tmp_path: Path) -> None:
        """A note in a form is as similar to a query as the same note without it."""
        own = {f"{one}.md": f"# About {one}\n\nAll that I know of {one}." for one in SUBJECTS}
        library.index(write_notes(tmp_path / "v", notes(SUBJECTS)))
        library.index(write_notes(tmp_path / "w", own))
        library.embed()
        found = library.candidates("what is known of kites", mode="semantic")
        scores = {one.id: one.similarity for one in found}
        for one in SUBJECTS:
            assert scores[f"v/{one}.md"] == pytest.approx(scores[f"w/{one}.md"], abs=1e-6)

    def test_switched_off_and_on(self, library: Library, tmp_path: Path) -> None:
        """Without the setting everything is embedded as it is, and with it as before."""
        library.index(write_notes(tmp_path / "v", notes(SUBJECTS)))
        before = passages(library)
        library.embed()
        with_forms = passages(library)
        with open_library(tmp_path / "x.db", ranking={"boilerplate": False}) as off:
            assert off.embed().embedded == len(SUBJECTS)
            assert passages(off) == before
        assert library.embed().embedded == len(SUBJECTS)
        assert passages(library) == with_forms != before

    def test_the_order_of_documents_does_not_matter(self, tmp_path: Path) -> None:
        """The same notes give the same index, whichever comes first."""
        digests = set()
        for place, order in enumerate((SUBJECTS, SUBJECTS[::-1])):
            with open_library(tmp_path / f"{place}.db") as library:
                library.save_all(
                    Draft(one, title=one, body=notes((one,))[f"{one}.md"]) for one in order
                )
                library.embed()
                digests.add(library.digest())
        assert len(digests) == 1

    def test_the_digest_does_not_depend_on_what_was_there(self, tmp_path: Path) -> None:
        """After a note of a template is deleted it is that of a fresh index of the same folder."""
        folder = write_notes(tmp_path / "v", notes(SUBJECTS[:FEWEST]))
        with open_library(tmp_path / "long.db") as library:
            library.index(folder)
            library.embed()
            (folder / f"{SUBJECTS[0]}.md").unlink()
            library.index(folder)
            library.embed()
            assert library._stores.documents.boilerplate().keys
            grown = library.digest()
        with open_library(tmp_path / "fresh.db") as library:
            library.index(folder)
            library.embed()
            assert not library._stores.documents.boilerplate().keys
            assert library.digest() == grown

    @pytest.mark.parametrize("encrypted", [True, False])
    def test_nothing_is_left_on_the_disk(
        self, library: Library, tmp_path: Path, encrypted: bool
    ) -> None:
        """When all that hold a line are encrypted or purged, not even its key is in the file."""
        secret = "The combination of the safe"
        (key,) = keys(secret)
        needles = (row_number(key), key.to_bytes(8, "little", signed=True))

        def on_disk() -> list[bool]:
            data = b"".join(file.read_bytes() for file in sorted(tmp_path.glob("x.db*")))
            return [needle in data for needle in needles]

        drafts = [Draft(one, title=one, body=f"{secret}\n\nAll about {one}.") for one in SUBJECTS]
        library.save_all(drafts)
        library.embed()
        assert on_disk() == [True, True]
        if encrypted:
            library.save_all(replace(one, body="", encrypted=True) for one in drafts)
        else:
            library.purge(SUBJECTS)
        assert on_disk() == [False, False]
        assert library._stores.documents.boilerplate().keys == frozenset()

    def test_a_form_speaks_no_language(self, library: Library, tmp_path: Path) -> None:
        """Russian notes in an English form are Russian, and nothing but a form is what it is."""
        texts = {
            f"{n}.md": f"# Запись {n}\n\n{FOOTER}\n## Мысли\n\nСегодня был долгий и тихий день {n}."
            for n in range(5)
        }
        library.index(write_notes(tmp_path / "v", {**texts, "form.md": f"# Form\n\n{FOOTER}"}))
        assert library.status().stats.languages == {"en": 6, "ru": 5}
        library.embed()
        assert library.status().stats.languages == {"en": 1, "ru": 5}
