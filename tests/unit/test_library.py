"""The library end to end, on real folders and a real database, with a quick embedder."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from tests.builders import open_library
from twolane import Library, Mode, Scope, Settings
from twolane.ingest.indexing import Indexer
from twolane.ingest.sources.vault import VaultSource
from twolane.model.answer import Lane
from twolane.model.errors import AmbiguousDocument, BadInput, MissingFolder, NoSuchDocument
from twolane.model.problem import FileState, ProblemCode
from twolane.model.scope import Capability
from twolane.ports.source import Entry
from twolane.stores.sqlite import open_stores


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


def write(vault: Path, path: str, text: str) -> Path:
    file = vault / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


def paths(library: Library, query: str, mode: Mode = Mode.HYBRID, **scope: object) -> list[str]:
    answer = library.search(query, mode=mode, scope=Scope(**scope))  # type: ignore[arg-type]
    assert not answer.degraded
    return [str(result.path) for result in answer.results]


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.LEXICAL, Mode.SEMANTIC])
def test_exclusions_hold_in_every_lane(library: Library, vault: Path, mode: Mode) -> None:
    """`search: false` and `_` path segments are found by no lane, not by get, not in counts."""
    write(vault, "open.md", "# Open\n\nwalrus and carpenter")
    write(vault, "closed.md", "---\nsearch: false\n---\n# Closed\n\nwalrus and carpenter")
    write(vault, "_templates/daily.md", "# Daily\n\nwalrus and carpenter")
    write(vault, "deep/_private/x.md", "# Private\n\nwalrus and carpenter")
    library.index(vault)
    library.embed()
    assert paths(library, "walrus carpenter", mode) == ["open.md"]
    assert library.status().stats.documents == 1
    for hidden in ("closed.md", "Closed", "_templates/daily.md", "deep/_private/x.md"):
        with pytest.raises(NoSuchDocument):
            library.document(hidden)
    skipped = {one.record.path for one in library.files() if one.record.state == FileState.SKIPPED}
    assert skipped == {"closed.md", "_templates/daily.md", "deep/_private/x.md"}


def test_a_note_that_closes_leaves_every_lane(library: Library, vault: Path) -> None:
    """Adding `search: false` to an indexed note takes it out at the next run."""
    file = write(vault, "a.md", "# A\n\nwalrus")
    library.index(vault)
    library.embed()
    assert paths(library, "walrus") == ["a.md"]
    file.write_text("---\nsearch: false\n---\n# A\n\nwalrus", "utf-8")
    library.index(vault)
    for mode in (Mode.HYBRID, Mode.LEXICAL, Mode.SEMANTIC):
        assert paths(library, "walrus", mode) == []


def test_unchanged_files_cost_nothing(library: Library, vault: Path) -> None:
    """A second run reads nothing and embeds nothing."""
    write(vault, "a.md", "# A\n\none")
    write(vault, "b.md", "# B\n\ntwo")
    assert library.index(vault).indexed == 2
    assert library.embed().embedded == 2
    report = library.index(vault)
    assert (report.indexed, report.unchanged) == (0, 2)
    assert library.embed().embedded == 0


def test_other_analysis_reads_everything_again(tmp_path: Path, vault: Path) -> None:
    """A changed chunk size makes every note new, although no file changed."""
    write(vault, "a.md", "# A\n\none")
    for size, indexed in ((450, 1), (450, 0), (300, 1)):
        with open_library(tmp_path / "x.db", index={"chunk_tokens": size}) as opened:
            assert opened.index(vault).indexed == indexed


def test_edits_and_deletions_follow(library: Library, vault: Path) -> None:
    """An edited note is found by its new words, a deleted one not at all."""
    for name in ("a", "b", "c", "d"):
        write(vault, f"{name}.md", f"# {name}\n\nwalrus {name}")
    library.index(vault)
    write(vault, "a.md", "# a\n\nnarwhal and some more")
    (vault / "b.md").unlink()
    report = library.index(vault)
    library.embed()
    assert (report.indexed, report.unchanged, report.deleted) == (1, 2, 1)
    assert paths(library, "narwhal", Mode.LEXICAL) == ["a.md"]
    assert paths(library, "walrus", Mode.LEXICAL) == ["c.md", "d.md"]


def test_a_rename_embeds_nothing(library: Library, vault: Path) -> None:
    """A note whose title is in the text moves without a new vector."""
    file = write(vault, "a.md", "# Walrus\n\nThe walrus sleeps.")
    write(vault, "b.md", "# Other\n\nSomething else.")
    library.index(vault)
    library.embed()
    (vault / "moved").mkdir()
    file.rename(vault / "moved" / "z.md")
    report = library.index(vault)
    assert (report.indexed, report.moved, report.deleted) == (1, 1, 0)
    assert library.embed().embedded == 0
    assert paths(library, "walrus sleeps", Mode.SEMANTIC)[0] == "moved/z.md"


def test_a_title_from_the_file_name_asks_for_a_new_vector(library: Library, vault: Path) -> None:
    """After such a rename the passage waits for its vector, is found by words, and says so."""
    file = write(vault, "walrus.md", "It sleeps on the ice all day.")
    write(vault, "b.md", "# Other\n\nSomething else.")
    library.index(vault)
    library.embed()
    assert not library.search("sleeps ice").degraded
    file.rename(vault / "narwhal.md")
    library.index(vault)
    assert library.status().progress.pending == 1
    answer = library.search("sleeps ice")
    assert answer.results[0].path == "narwhal.md"
    assert [(one.lane, "wait" in one.reason) for one in answer.degraded] == [(Lane.DENSE, True)]
    assert library.embed().embedded == 1
    assert library.status().progress.pending == 0
    assert not library.search("sleeps ice").degraded
    assert library.check() == []


@pytest.mark.parametrize("gone", [2, 3, 4])
def test_a_sudden_loss_deletes_nothing(library: Library, vault: Path, gone: int) -> None:
    """When more than half of the files are gone nothing is deleted without `prune`."""
    for name in "abcd":
        write(vault, f"{name}.md", f"# {name}\n\nwalrus")
    library.index(vault)
    for name in "abcd"[:gone]:
        (vault / f"{name}.md").unlink()
    report = library.index(vault)
    if gone > 2:
        assert (report.withheld, report.deleted) == (gone, 0)
        # An empty folder may be a disk that is not connected: its notes can still be found.
        assert library.status().stats.documents == (1 if gone == 3 else 4)
        report = library.index(vault, prune=True)
    assert (report.withheld, report.deleted) == (0, gone)
    assert library.status().stats.documents == 4 - gone


def test_a_note_that_is_gone_is_no_result_and_comes_back(library: Library, vault: Path) -> None:
    """Notes lost at once are kept out of sight with what was counted of them, until they return."""
    texts = {f"{name}.md": f"# {name}\n\nwalrus {name}" for name in "abcd"}
    for path, text in texts.items():
        write(vault, path, text)
    library.index(vault)
    library.embed()
    library.touch("vault/a.md")
    for path in ("a.md", "b.md", "c.md"):
        (vault / path).unlink()
    for _ in range(2):
        assert library.index(vault).withheld == 3
        for mode in (Mode.HYBRID, Mode.LEXICAL, Mode.SEMANTIC):
            assert paths(library, "walrus", mode) == ["d.md"]
        codes = {one.record.path: one.record.code for one in library.files()}
        assert codes["a.md"] == ProblemCode.GONE
    assert library.deleted() == []
    write(vault, "a.md", texts["a.md"])
    write(vault, "below/b.md", texts["b.md"])
    report = library.index(vault)
    assert (report.indexed, report.moved, report.withheld) == (2, 1, 1)
    assert library.embed().embedded == 0
    assert library.document("vault/a.md").uses == 1
    assert sorted(paths(library, "walrus")) == ["a.md", "below/b.md", "d.md"]
    assert library.index(vault, prune=True).deleted == 1
    assert library.index(vault).withheld == 0
    assert library.check() == []


def test_a_reorganised_vault_has_every_note_once(library: Library, vault: Path) -> None:
    """Everything moved into a subfolder is followed, with vectors and uses, and nothing doubles."""
    for number in range(27):
        write(vault, f"{number}.md", f"# Note {number}\n\nwalrus number {number}")
    library.index(vault)
    library.embed()
    library.touch("vault/3.md")
    used = library.document("vault/3.md").used
    (vault / "archive").mkdir()
    for number in range(27):
        (vault / f"{number}.md").rename(vault / "archive" / f"{number}.md")
    # An editor mends the links of a note that it moves, and so changes it.
    write(vault, "archive/4.md", "# Note 4\n\nwalrus number 4, see [three](archive/3.md)")
    report = library.index(vault)
    assert (report.moved, report.deleted, report.withheld) == (27, 0, 0)
    assert library.embed().embedded == 1
    assert library.status().stats.documents == 27
    moved = library.document("vault/archive/3.md")
    assert (moved.uses, moved.used) == (1, used)
    for mode in (Mode.HYBRID, Mode.LEXICAL, Mode.SEMANTIC):
        found = library.search("walrus", mode=mode, scope=Scope(), limit=20).results
        assert all(str(one.path).startswith("archive/") for one in found)
    assert library.check() == []


def test_a_copy_is_no_move(library: Library, vault: Path) -> None:
    """The same text at a second path is a second note as long as the first is there."""
    write(vault, "a.md", "# A\n\nwalrus")
    library.index(vault)
    library.touch("vault/a.md")
    write(vault, "b.md", "# A\n\nwalrus")
    assert library.index(vault).moved == 0
    assert library.document("vault/b.md").uses == 0
    assert library.status().stats.documents == 2


@pytest.mark.parametrize("mode", list(Mode))
def test_a_phrase_is_found_as_it_is_read(library: Library, vault: Path, mode: Mode) -> None:
    """Signs of Markdown between its words hide a phrase in no mode, and it is shown marked."""
    write(vault, "a.md", "# A\n\n**green tea** from [[Japan|far Japan]] is good")
    write(vault, "b.md", "# B\n\ngreen tea, but not from there")
    library.index(vault)
    library.embed()
    for query in ('"green tea from"', '"tea from far japan is"'):
        (result,) = library.search(query, mode=mode).results
        assert result.path == "a.md"
        assert "<mark>" in result.snippet


def test_a_missing_root_deletes_nothing(library: Library, vault: Path) -> None:
    """A root that is gone is an error; with `prune` its notes go."""
    write(vault, "a.md", "# A\n\nwalrus")
    library.index(vault)
    (vault / "a.md").unlink()
    vault.rmdir()
    with pytest.raises(MissingFolder, match="--prune"):
        library.index(vault)
    assert paths_of_words(library, "walrus") == ["a.md"]
    assert library.index(vault, prune=True).deleted == 1
    assert paths_of_words(library, "walrus") == []


def paths_of_words(library: Library, query: str) -> list[str]:
    return paths(library, query, Mode.LEXICAL)


def test_bad_files_are_problems(library: Library, vault: Path) -> None:
    """A bad file is reported with its reason and stops nothing."""
    write(vault, "good.md", "# Good\n\nwalrus")
    write(vault, "yaml.md", "---\ntags: [a\n---\n# Yaml\n\nwalrus")
    (vault / "binary.md").write_bytes(b"\x00\x01\x02" * 100)
    (vault / "latin.md").write_bytes("# Café\n\nwalrus".encode("latin-1"))
    report = library.index(vault)
    codes = {problem.path: str(problem.code) for problem in report.problems}
    assert codes == {"yaml.md": "front-matter", "binary.md": "binary", "latin.md": "not-utf8"}
    assert (report.indexed, report.failed) == (3, 1)
    assert paths_of_words(library, "walrus") == ["good.md", "latin.md", "yaml.md"]
    states = {
        one.record.path: (str(one.record.state), one.record.reason) for one in library.files()
    }
    assert states["binary.md"][0] == "failed"
    assert states["yaml.md"][0] == "indexed"
    assert states["yaml.md"][1]
    assert states["good.md"] == ("indexed", "")


class Locked(VaultSource):
    """A folder in which nothing can be read any more."""

    def read(self, entry: Entry) -> bytes:
        raise PermissionError(13, "Permission denied")


def test_an_unreadable_file_keeps_its_old_text(tmp_path: Path, vault: Path) -> None:
    """A file that cannot be read now stays found as it was, is reported, and is tried again."""
    file = write(vault, "a.md", "# A\n\nwalrus")
    settings = Settings(db=tmp_path / "x.db", embedding={"embedder": "none"})
    with Library.open(settings=settings) as opened:
        opened.index(vault)
        (collection,) = opened.collections()
    file.write_text("# A\n\nnarwhal, and more of it", "utf-8")
    store = open_stores(tmp_path / "x.db")
    report = Indexer(store, settings).index(Locked(vault), collection, Scope())
    assert [(one.path, str(one.code)) for one in report.problems] == [("a.md", "unreadable")]
    store.maintenance.close()
    with Library.open(settings=settings) as opened:
        assert [result.path for result in opened.search("walrus").results] == ["a.md"]
        (state,) = opened.files()
        assert (str(state.record.state), state.record.reason) == ("failed", "Permission denied")
        assert opened.index(vault).indexed == 1
        assert [result.path for result in opened.search("narwhal").results] == ["a.md"]


def test_two_roots_of_one_name_stay_apart(library: Library, tmp_path: Path) -> None:
    """Each indexed root is a collection named after its folder; a number tells twins apart."""
    for place in ("x", "y"):
        write(tmp_path / place / "notes", "a.md", f"# A\n\nwalrus {place}")
        library.index(tmp_path / place / "notes")
    assert [one.name for one in library.collections()] == ["notes", "notes-2"]
    assert {result.id for result in library.search("walrus").results} == {
        "notes/a.md",
        "notes-2/a.md",
    }
    assert [
        r.id for r in library.search("walrus", scope=Scope(collections=("notes-2",))).results
    ] == ["notes-2/a.md"]


def test_a_document_is_named_in_four_ways(library: Library, vault: Path) -> None:
    """DOC is an id, a path, a URL or a unique title; an ambiguous one lists its candidates."""
    write(vault, "a.md", "---\nurl: https://example.org/w\n---\n# Walrus\n\none")
    write(vault, "b.md", "# Twin\n\ntwo")
    write(vault, "c.md", "# Twin\n\nthree")
    library.index(vault)
    for reference in ("vault/a.md", "a.md", "https://example.org/w", "walrus"):
        assert library.document(reference).path == "a.md"
    with pytest.raises(AmbiguousDocument, match=r"vault/b\.md\n  vault/c\.md"):
        library.document("Twin")
    with pytest.raises(NoSuchDocument, match="narwhal"):
        library.document("narwhal")


def test_a_document_is_named_by_its_alias(library: Library, vault: Path) -> None:
    """An alias comes after every other name, and one of several documents lists them."""
    write(vault, "a.md", "---\naliases: [Sea Horse, b]\n---\n# Walrus\n\none")
    write(vault, "b.md", "---\naliases: [Twin]\n---\n# Narwhal\n\ntwo")
    write(vault, "c.md", "---\naliases: [twin, walrus]\n---\n# Seal\n\nthree")
    library.index(vault)
    for reference, path in (("sea horse", "a.md"), ("b", "b.md"), ("walrus", "a.md")):
        assert library.document(reference).path == path
    with pytest.raises(AmbiguousDocument, match=r"vault/b\.md\n  vault/c\.md"):
        library.document("Twin")


def test_paths_are_composed(library: Library, vault: Path) -> None:
    """A file name in decomposed form is one path, in composed form, and still opens."""
    write(vault, unicodedata.normalize("NFD", "Ёжик и йод.md"), "# Note\n\nwalrus")
    library.index(vault)
    assert paths_of_words(library, "walrus") == [unicodedata.normalize("NFC", "Ёжик и йод.md")]


def test_filters_hold_in_every_lane(library: Library, vault: Path) -> None:
    """Tags, paths and exclusions written in the query line bind words and meaning alike."""
    write(vault, "food/a.md", "---\ntags: [food]\n---\n# A\n\nwalrus soup")
    write(vault, "sea/b.md", "---\ntags: [sea/ice]\n---\n# B\n\nwalrus ice")
    library.index(vault)
    library.embed()
    for mode in (Mode.HYBRID, Mode.LEXICAL, Mode.SEMANTIC):
        assert paths(library, "walrus tag:food", mode) == ["food/a.md"]
        assert paths(library, "walrus tag:sea", mode) == ["sea/b.md"]
        assert paths(library, "walrus -soup", mode) == ["sea/b.md"]
        assert paths(library, "walrus path:food", mode) == ["food/a.md"]
        assert paths(library, 'walrus "walrus soup"', mode) == ["food/a.md"]
        assert paths(library, "walrus", mode, tags=("food",)) == ["food/a.md"]


def test_filters_alone_list(library: Library, vault: Path) -> None:
    """A query of filters alone lists what they leave, newest first; an empty one lists all."""
    for age, name in enumerate("abc"):
        file = write(vault, f"{name}.md", f"---\ntags: [x]\n---\n# {name}")
        os.utime(file, (1_700_000_000 - age, 1_700_000_000 - age))
    write(vault, "other.md", "# other")
    library.index(vault)
    answer = library.search("tag:x")
    assert [result.path for result in answer.results] == ["a.md", "b.md", "c.md"]
    everything = {result.path for result in library.search("   ").results}
    assert everything == {"a.md", "b.md", "c.md", "other.md"}


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.LEXICAL, Mode.EXACT])
@pytest.mark.parametrize("signs", [":=", "🎉", "->", "☕", "(?", '"'])
def test_signs_are_found_by_their_letters(
    library: Library, vault: Path, signs: str, mode: Mode
) -> None:
    """What is nothing but signs has no words, and is found where it stands, and only there."""
    write(vault, "a.md", f"# Here\n\nwalrus {signs} carpenter")
    write(vault, "b.md", "# Elsewhere\n\nwalrus and carpenter")
    library.index(vault)
    assert paths(library, signs, mode) == ["a.md"]


def test_results_show_the_passage_that_won(library: Library, vault: Path) -> None:
    """A result carries its marked title and snippet, heading path and line range."""
    write(
        vault,
        "a.md",
        "---\ntags: [sea]\n---\n# Animals\n\nIntro.\n\n## Seals\n\nA walrus is <big>.\n"
        "\n## Fish\n\nCod.\n",
    )
    library.index(vault)
    library.embed()
    (result,) = library.search("walruses").results
    assert result.snippet.count("<mark>") == 1
    assert "<mark>walrus</mark>" in result.snippet
    assert "<big>" not in result.snippet
    assert result.lines is not None
    assert result.lines[0] <= 10 <= result.lines[1]
    assert result.tags == ("sea",)
    assert result.title == "Animals"


def test_k_is_guaranteed(library: Library, vault: Path) -> None:
    """A search gives as many results as match, up to what was asked, beyond any pool."""
    for number in range(130):
        write(vault, f"{number:03}.md", f"# Note {number}\n\nwalrus number {number}")
    library.index(vault)
    assert len(library.search("walrus", mode="lexical", limit=125).results) == 125
    assert len(library.search("walrus", mode="lexical", limit=500).results) == 130
    assert len(library.search("walrus").results) == 20


def test_bad_calls_are_errors(library: Library) -> None:
    """What cannot be done as asked says so."""
    with pytest.raises(BadInput, match="at least 1"):
        library.search("x", limit=0)


def test_writing_needs_the_capability(library: Library, vault: Path) -> None:
    """A scope that may only search cannot index."""
    from twolane.model.errors import NotPermitted

    reader = Scope(capabilities=frozenset({Capability.SEARCH}))
    with pytest.raises(NotPermitted, match=r"documents\.write"):
        library.index(vault, scope=reader)
    with pytest.raises(NotPermitted, match=r"documents\.write"):
        library.embed(scope=reader)
