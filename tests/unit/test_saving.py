"""Writing through the library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.builders import open_library, vocabulary, write_notes
from twolane import Capability, Draft, Kind, Library, Saved, Scope, Settings
from twolane.model.errors import (
    BadDraft,
    BadInput,
    Conflict,
    HeldInFile,
    NoSuchDocument,
    NotPermitted,
    NotYours,
    StoreBusy,
)
from twolane.stores.sqlite import open_stores

ANN, BOB = Scope(owner="ann"), Scope(owner="bob")
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def found(library: Library, query: str, scope: Scope = Scope()) -> list[str]:  # noqa: B008
    """Ids of what the words find."""
    return [one.id for one in library.search(query, scope=scope, mode="lexical").results]


def _on_disk(words: Sequence[str], folder: Path) -> list[str]:
    """Those of the words that the bytes of the database and of its log hold."""
    data = b"".join(file.read_bytes() for file in sorted(folder.glob("s.db*"))).lower()
    return [word for word in words if word.encode() in data]


class TestSave:
    """Adding and replacing documents."""

    def test_the_text_is_searchable_when_the_call_returns(self, library: Library) -> None:
        """A new note is found by its words at once and has its first version."""
        saved = library.save(Draft("n1", title="Pruning", body="Cut the *tomato* shoots."))
        assert saved == Saved("n1", 1, changed=True, created=True)
        assert found(library, "tomatoes") == ["n1"]
        held = library.document("n1")
        assert (held.collection, held.title, held.version) == ("saved", "Pruning", 1)
        assert held.created == held.updated
        assert held.created is not None

    def test_the_same_again_changes_nothing(self, library: Library) -> None:
        """Saving is idempotent by id: no new version, no new time, no work for the embedder."""
        draft = Draft("n1", title="A", body="ant", tags=("x y",), properties={"n": [1, NOON]})
        library.save(draft)
        before = library.document("n1")
        assert library.save(draft) == Saved("n1", 1, changed=False)
        assert library.save(before) == Saved("n1", 1, changed=False)
        assert library.document("n1") == before

    @pytest.mark.parametrize(
        "about", [{"archived": True}, {"searchable": False}, {"tags": ("y",)}, {"uses": 3}]
    )
    def test_what_is_kept_about_it_is_no_new_text(
        self, library: Library, about: dict[str, Any]
    ) -> None:
        """Putting a document aside, hiding or tagging it leaves the time of its last change."""
        library.save(Draft("n1", title="A", body="ant", tags=("x",), updated=NOON))
        assert library.revise("n1", lambda draft: replace(draft, **about)).changed
        held = library._stores.documents.get(["n1"])["n1"].document
        assert held.updated == NOON
        library.revise("n1", lambda draft: replace(draft, body="bee"))
        held = library._stores.documents.get(["n1"])["n1"].document
        assert held.updated != NOON

    def test_another_text_is_another_version(self, library: Library) -> None:
        """The old words are gone, the time of creation stays."""
        library.save(Draft("n1", title="A", body="ant", created=NOON))
        assert library.save(Draft("n1", title="A", body="bee")).version == 2
        assert (found(library, "ant"), found(library, "bee")) == ([], ["n1"])
        assert library.document("n1").created == NOON

    def test_a_document_may_move_to_another_collection(self, library: Library) -> None:
        """The collection is part of what is saved; new ones come into being."""
        library.save(Draft("n1", title="A"))
        library.save(Draft("n1", title="A", collection="work"))
        assert found(library, "A", Scope(collections=("work",))) == ["n1"]
        assert [one.name for one in library.collections()] == ["saved", "work"]

    def test_headings_and_links_are_read(self, library: Library) -> None:
        """The body is Markdown: its headings cut passages and give a title."""
        library.save(Draft("n1", body="# Garden\n\nSee [[Beans]].\n\n## Soil\n\nLoam."))
        held = library.document("n1")
        assert held.title == "Garden"
        assert [one.text for one in held.headings] == ["Garden", "Soil"]
        assert [one.target for one in held.links] == ["Beans"]
        assert library.chunks(held)[-1].headings == ("Soil",)

    def test_many_are_saved_together_or_not_at_all(self, library: Library) -> None:
        """One draft that cannot be saved keeps all the others out."""
        good = Draft("a", title="ant")
        with pytest.raises(BadDraft):
            library.save_all([good, Draft("b", kind=Kind.BOOKMARK, title="no address")])
        assert found(library, "ant") == []
        saved = library.save_all([good, Draft("b", title="bee"), Draft("a", title="cat")])
        assert [one.id for one in saved] == ["a", "b", "a"]
        assert (found(library, "ant"), found(library, "cat")) == ([], ["a"])

    def test_passages_of_a_saved_document_get_vectors(self, library: Library) -> None:
        """Meaning follows, at once or with `embed`: every new passage has its vector then."""
        library.save(Draft("n1", title="A", body="ant"))
        assert library.embed().pending == 0
        library.add_tags("n1", ["x"])
        library.archive("n1")
        library.touch("n1")
        assert library.embed().embedded == 0


class TestVersions:
    """Optimistic concurrency."""

    def test_an_expected_version_guards_a_save(self, library: Library) -> None:
        """A save for another version than the one held raises and changes nothing."""
        library.save(Draft("n1", title="ant"), expected_version=0)
        for expected in (0, 2):
            with pytest.raises(Conflict) as raised:
                library.save(Draft("n1", title="bee"), expected_version=expected)
            assert raised.value.held == 1
        assert library.save(Draft("n1", title="bee"), expected_version=1).version == 2
        with pytest.raises(Conflict):
            library.save(Draft("n2", title="bee"), expected_version=1)

    @pytest.mark.parametrize("verb", ["delete", "archive", "add_tags"])
    def test_other_changes_are_guarded_too(self, library: Library, verb: str) -> None:
        """Each change that makes a version can demand one."""
        library.save(Draft("n1", title="ant"))
        change: Callable[..., list[Saved]] = getattr(library, verb)
        given: list[Any] = ["n1", ["x"]] if verb == "add_tags" else ["n1"]
        with pytest.raises(Conflict):
            change(*given, expected_version=5)
        assert change(*given, expected_version=1)[0].version == 2

    def test_writers_do_not_lose_each_others_changes(self, library: Library) -> None:
        """Tags that four threads add at once are all there afterwards."""
        library.save(Draft("n1", title="ant"))
        tags = [f"t{number}" for number in range(12)]
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda tag: library.add_tags("n1", [tag]), tags))
        assert set(library.document("n1").tags) == set(tags)
        assert library.document("n1").version == 13


class TestChanges:
    """Deleting, restoring, archiving, touching, tagging, purging."""

    def test_delete_restore_purge(self, library: Library) -> None:
        """A deleted document waits to be restored; a purged one is gone."""
        library.save(Draft("n1", title="ant", tags=("x",)))
        assert library.delete("n1") == [Saved("n1", 2, changed=True)]
        assert library.delete("n1") == [Saved("n1", 2, changed=False)]
        assert found(library, "ant") == []
        assert [one.id for one in library.deleted()] == ["n1"]
        with pytest.raises(NoSuchDocument):
            library.archive("n1")
        assert library.restore(["n1"]) == [Saved("n1", 3, changed=True)]
        assert found(library, "ant", Scope(tags=("x",))) == ["n1"]
        library.purge("n1")
        with pytest.raises(NoSuchDocument):
            library.restore("n1")
        assert library.deleted() == []

    def test_saving_revives_what_was_deleted(self, library: Library) -> None:
        """Who saves a document wants it to be there."""
        library.save(Draft("n1", title="ant"))
        library.delete("n1")
        assert library.save(Draft("n1", title="ant")) == Saved("n1", 3, changed=True)
        assert found(library, "ant") == ["n1"]

    def test_archive_and_unarchive(self, library: Library) -> None:
        """Archived documents are found only by who asks for them."""
        library.save_all([Draft("n1", title="ant"), Draft("n2", title="ant")])
        library.archive(["n1", "n2"])
        assert found(library, "ant") == []
        assert found(library, "ant", Scope(archived=True)) == ["n1", "n2"]
        library.unarchive("n2")
        assert found(library, "ant") == ["n2"]

    def test_touch_keeps_the_latest_use(self, library: Library) -> None:
        """Uses are counted, late ones too, each report once; none makes a version."""
        library.save(Draft("n1", title="ant"))
        before = library.document("n1")
        assert library.touch("n1", at=NOON) == [Saved("n1", 1, changed=True)]
        assert library.touch("n1", at=NOON) == [Saved("n1", 1, changed=False)]
        assert library.touch("n1", at=NOON - timedelta(days=1)) == [Saved("n1", 1, changed=True)]
        assert library.document("n1") == replace(before, used=NOON, uses=2)
        library.save(Draft("n1", title="bee"))
        assert library.document("n1").uses == 2

    def test_tags_are_added_and_removed(self, library: Library) -> None:
        """Tags of any script, with spaces and emoji; case does not make another tag."""
        library.save(Draft("n1", title="ant", tags=("Garden",)))
        library.add_tags("n1", ["#garden", "два слова", "🍕", " a/b/ "])
        assert library.document("n1").tags == ("Garden", "два слова", "🍕", "a/b")
        library.remove_tags("n1", ["GARDEN", "a/b"])
        assert library.facets().tags == {"два слова": 1, "🍕": 1}
        assert found(library, "слово") == ["n1"]
        assert library.add_tags("n1", ["🍕"]) == [Saved("n1", 3, changed=False)]

    def test_a_tag_is_renamed_everywhere(self, library: Library) -> None:
        """Tags below it follow, deleted documents too, and equal ones melt into one."""
        library.save_all(
            [
                Draft("a", title="ant", tags=("food", "meal")),
                Draft("b", title="bee", tags=("Food/Thai", "foods")),
                Draft("c", title="cat", tags=("x", "food")),
            ]
        )
        library.delete("c")
        assert {one.id for one in library.rename_tag("food", "meal")} == {"a", "b", "c"}
        library.restore("c")
        assert library.facets().tags == {"foods": 1, "meal": 2, "meal/Thai": 1, "x": 1}
        with pytest.raises(BadInput):
            library.rename_tag("meal", " # ")

    def test_a_document_that_becomes_encrypted_keeps_no_text(self, library: Library) -> None:
        """No lane, no list, no store knows its words or its vectors any more."""
        draft = Draft("n1", title="ant", body="secret recipe", description="d", tags=("x",))
        library.save(draft)
        library.embed()
        saved = library.save(replace(draft, encrypted=True))
        assert saved == Saved("n1", 2, changed=True)
        assert library.served() == frozenset()
        assert [library.search(text).results for text in ("secret", "ant", "x")] == [(), (), ()]
        held = library._stores.documents.get(["n1"])["n1"].document
        assert (held.title, held.body, held.description, held.tags) == ("", "", "", ())
        assert vocabulary(library._stores, Scope()) == []
        assert library.save(replace(draft, encrypted=True)).changed is False
        assert library.save(draft).version == 3
        library.embed()
        assert library.served() == {"n1"}

    @pytest.mark.parametrize("way", ["encrypt", "purge", "remove collection"])
    def test_nothing_of_a_secret_is_left_in_the_file(self, tmp_path: Path, way: str) -> None:
        """Not one word of any version is on disk: in tables, indexes, free pages or the log."""
        first = Draft("s", title="Krxanich", body="sxaffron sauce\n\n" + "older " * 2000)
        last = replace(first, title="Drxossel", body="pxarsnip", description="hxidden")
        last = replace(last, tags=("mxine",), aliases=("txwin",), arguments=("gxiven",))
        bare = Draft("b", Kind.BOOKMARK, title="bxare", url="https://sxecret.example/pxath")
        with open_library(tmp_path / "s.db") as library:
            library.save_all(Draft(f"n{at}", body=f"ordinary {at}") for at in range(50))
            for drafts in ([first], [last, bare]):
                library.save_all(replace(one, collection="c") for one in drafts)
                library.embed()
                library._stores.maintenance.settle()
            words = ("krxanich", "sxaffron", "drxossel", "pxarsnip", "hxidden", "mxine", "txwin")
            words += ("gxiven", "bxare", "sxecret", "pxath")
            assert _on_disk(words, tmp_path) == list(words)
            if way == "encrypt":
                for id in ("s", "b"):
                    library.save(Draft(id, collection="c", encrypted=True))
            elif way == "purge":
                library.purge(["s", "b"])
            else:
                library.remove_collection("c")
            assert _on_disk(words, tmp_path) == []
            assert found(library, "ordinary 7")[0] == "n7"
            assert library.check() == []

    def test_the_digest_covers_what_was_saved(self, library: Library) -> None:
        """Whatever is saved differently changes it; a use, a time and a round trip do not."""
        draft = Draft("n1", title="ant", body="text")
        library.save(draft)
        digests = [library.digest()]
        for other in ({"tags": ("x",)}, {"kind": Kind.PROMPT}, {"properties": {"a": 1}}):
            library.save(replace(draft, **other))  # type: ignore[arg-type]
            digests.append(library.digest())
        library.archive("n1")
        digests.append(library.digest())
        assert len(set(digests)) == 5
        library.unarchive("n1")
        library.touch("n1")
        library.save(draft)
        assert library.digest() == digests[0]
        library.delete("n1")
        assert library.digest() not in digests

    def test_an_unknown_id_changes_nothing(self, library: Library) -> None:
        """Of several ids one that is not there keeps all from changing."""
        library.save(Draft("n1", title="ant"))
        with pytest.raises(NoSuchDocument, match="ghost"):
            library.delete(["n1", "ghost"])
        assert found(library, "ant") == ["n1"]


class TestPermission:
    """Who may write what."""

    def test_writing_needs_the_capability(self, library: Library) -> None:
        """Without it nothing is touched, whatever the verb."""
        library.save(Draft("n1", title="ant"))
        reader = Scope(capabilities=frozenset({Capability.SEARCH}))
        for change in (
            lambda: library.save(Draft("n2"), scope=reader),
            lambda: library.delete("n1", scope=reader),
            lambda: library.touch("n1", scope=reader),
            lambda: library.purge("n1", scope=reader),
            lambda: library.add_tags("n1", ["x"], scope=reader),
            lambda: library.rename_tag("a", "b", scope=reader),
            lambda: library.deleted(scope=reader),
        ):
            with pytest.raises(NotPermitted):
                change()
        assert library.document("n1").version == 1

    def test_an_owner_has_only_their_own(self, library: Library) -> None:
        """Saving sets the owner; others cannot see, change or take over the document."""
        library.save(Draft("n1", title="ant", tags=("x",)), scope=ANN)
        assert library.document("n1").owner == "ann"
        for verb in ("delete", "restore", "archive", "touch", "purge"):
            with pytest.raises(NoSuchDocument):
                getattr(library, verb)("n1", scope=BOB)
        with pytest.raises(NotYours):
            library.save(Draft("n1", title="bee"), scope=BOB)
        with pytest.raises(NotPermitted):
            library.save(Draft("n2", title="bee", owner="ann"), scope=BOB)
        assert library.rename_tag("x", "y", scope=BOB) == []
        assert library.document("n1").version == 1

    def test_a_local_save_keeps_the_owner(self, library: Library) -> None:
        """Who may do everything does not take documents from their owners by mistake."""
        library.save(Draft("n1", title="ant"), scope=ANN)
        library.save(Draft("n1", title="bee"))
        assert library.document("n1", scope=ANN).title == "bee"

    def test_a_scope_of_collections_stays_in_them(self, library: Library) -> None:
        """Documents elsewhere are not there for it, and nothing can be put elsewhere."""
        library.save(Draft("n1", title="ant"))
        narrow = Scope(collections=("work",))
        with pytest.raises(NotPermitted):
            library.save(Draft("n2", title="bee"), scope=narrow)
        with pytest.raises(NoSuchDocument):
            library.delete("n1", scope=narrow)

    def test_files_are_changed_in_their_folder(self, library: Library, tmp_path: Path) -> None:
        """A document that comes from a file is refused; that it was used may be noted."""
        vault = write_notes(tmp_path / "vault", {"a.md": "ant #x"})
        library.index(vault)
        with pytest.raises(HeldInFile):
            library.save(Draft("vault/a.md", title="bee"))
        for id, collection in (("n1", "vault"), ("vault/new.md", "saved")):
            with pytest.raises(BadInput, match="file"):
                library.save(Draft(id, title="bee", collection=collection))
        for verb in ("delete", "archive", "purge"):
            with pytest.raises(HeldInFile):
                getattr(library, verb)("vault/a.md")
        assert library.rename_tag("x", "y") == []
        library.touch("vault/a.md", at=NOON)
        write_notes(vault, {"a.md": "ant and bee"})
        library.index(vault)
        assert library.document("vault/a.md").used == NOON


def test_what_comes_after_a_change_does_not_undo_it(tmp_path: Path) -> None:
    """A store that cannot do what writing left for later has still saved the document."""

    def settle(*, beyond: int = 0) -> None:
        raise StoreBusy("another process writes")

    stores = open_stores(tmp_path / "x.db")
    stores.maintenance._settling.settle = settle  # type: ignore[attr-defined]
    with Library(stores, Settings()) as library:
        assert library.save(Draft("a", title="Ant")).created
        assert library.delete("a")[0].changed
