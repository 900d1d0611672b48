"""Mending a file of which rows are gone: what a person wrote is there afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from tests.builders import inventory
from twolane import Draft, Library, Settings
from twolane.model.document import Document, Kind
from twolane.model.scope import Scope

BOOKMARK = Draft(
    "b1",
    title="Growing tomatoes",
    body="# Soil\n\nLoam and compost.\n\n## Water\n\nSee [the well](https://well.example/x).\n",
    collection="links",
    kind=Kind.BOOKMARK,
    url="https://garden.example/tomatoes",
    description="All about beds",
    summary="Plant late.",
    tags=("garden", "slow cooking"),
    aliases=("Love apples",),
    properties={"rating": 5, "with": ["Ada", "Bob"]},
    owner="ada",
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings for a database of its own."""
    return Settings(db=tmp_path / "d.db", embedding={"embedder": "hashing"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of two notes."""
    root = tmp_path / "notes"
    (root / "sub").mkdir(parents=True)
    (root / "tea.md").write_text("---\ntags: [drink]\n---\n# Tea\n\nGreen leaves.\n")
    (root / "sub" / "fern.md").write_text("# Fern\n\nSpores under the fronds.\n")
    return root


def harm(settings: Settings, statement: str) -> None:
    """Do to the file what no program of ours would: no trigger follows."""
    connection = apsw.Connection(str(settings.db))
    names = [
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    ]
    connection.execute("".join(f"DROP TRIGGER {name};" for name in names) + statement)
    connection.close()


def everything(library: Library) -> dict[str, Document]:
    """All documents by id, deleted and archived ones too."""
    scope = Scope(archived=True)
    ids = [
        id for deleted in (False, True) for id in inventory(library._stores, scope, deleted=deleted)
    ]
    return {id: one.document for id, one in library._stores.documents.get(ids).items()}


def mended(settings: Settings) -> Iterator[Library]:
    """The library after it was mended."""
    with Library.open(settings=settings) as library:
        assert library.check()
        assert library.repair()
        assert library.check() == []
        yield library


def titles(library: Library, query: str) -> list[str]:
    """What a query finds by words."""
    return [one.title for one in library.search(query, mode="lexical").results]


def test_documents_of_a_lost_collection_stay_as_they_are(settings: Settings) -> None:
    """Sixty saved documents whose collection is gone are in `recovered`, with every field."""
    with Library.open(settings=settings) as library:
        library.save_all([Draft(f"d{n}", body=f"word{n} text", tags=("t",)) for n in range(60)])
        library.save(BOOKMARK)
        before = everything(library)
    harm(settings, "DELETE FROM collections WHERE name <> 'links'")
    for library in mended(settings):
        after = everything(library)
        assert {id: replace(one, collection="") for id, one in after.items()} == {
            id: replace(one, collection="") for id, one in before.items()
        }
        assert {one.collection for one in after.values()} == {"recovered", "links"}
        assert titles(library, "word7") == ["word7 text"]


def test_lost_collections_are_kept_apart(settings: Settings) -> None:
    """Two collections that are gone become two, not one."""
    with Library.open(settings=settings) as library:
        library.save_all(
            [Draft("a", body="ant", collection="x"), Draft("b", body="b", collection="y")]
        )
    harm(settings, "DELETE FROM collections")
    for library in mended(settings):
        found = {id: one.collection for id, one in everything(library).items()}
        assert found == {"a": "recovered", "b": "recovered-2"}


def test_a_lost_collection_of_files_has_its_name_again(settings: Settings, folder: Path) -> None:
    """Ids tell the name of a folder's collection, and the folder finds it at the next index."""
    with Library.open(settings=settings) as library:
        library.index(folder)
        before, digest = everything(library), library.digest()
    harm(settings, "DELETE FROM collections")
    for library in mended(settings):
        assert everything(library) == before
        library.index(folder)
        assert everything(library) == before
        assert [one.root for one in library.collections()] == [str(folder)]
        assert library.digest() == digest


def test_a_folder_takes_no_collection_of_saved_documents(settings: Settings, folder: Path) -> None:
    """A collection that merely has the folder's name keeps its documents."""
    with Library.open(settings=settings) as library:
        library.save(Draft("mine", body="ant", collection="notes", path="mine.md"))
        library.index(folder)
        assert everything(library)["mine"].collection == "notes"
        assert {one.name for one in library.collections()} == {"notes", "notes-2"}


def test_a_bookmark_without_its_text_keeps_all_else(settings: Settings) -> None:
    """Of a lost text the headings and links are left, and every other field is as it was."""
    with Library.open(settings=settings) as library:
        library.save(BOOKMARK)
        (before,) = everything(library).values()
    harm(settings, "DELETE FROM texts; DELETE FROM words")
    for library in mended(settings):
        (after,) = everything(library).values()
        assert after.version == before.version + 1
        assert [one.text for one in after.headings] == ["Soil", "Water"]
        assert after.links == before.links
        changed = {"body", "headings", "first_line", "content_hash", "version"}
        for name in set(Document.__slots__) - changed:
            assert getattr(after, name) == getattr(before, name), name
        for query in ("tomatoes", "beds", "love", "water", "garden.example", "slow"):
            assert titles(library, query) == ["Growing tomatoes"], query
        assert library.status().progress.pending + library.status().progress.ready > 0


def test_a_note_without_its_text_is_read_again(settings: Settings, folder: Path) -> None:
    """The next index takes the text of a note from its file, which has not changed."""
    with Library.open(settings=settings) as library:
        library.index(folder)
        digest = library.digest()
    harm(settings, "DELETE FROM texts")
    for library in mended(settings):
        assert len(everything(library)) == 2
        library.index(folder)
        assert library.digest() == digest
        assert titles(library, "spores") == ["Fern"]


def test_a_text_without_its_document_is_recovered(settings: Settings) -> None:
    """Text, tags, properties and words of a document whose row is gone are all there."""
    with Library.open(settings=settings) as library:
        library.save_all([BOOKMARK, Draft("gone", body="A secret pond.")])
        library.delete("gone")
    harm(settings, "DELETE FROM documents")
    for library in mended(settings):
        found = sorted(everything(library).values(), key=lambda one: one.deleted)
        assert [one.deleted for one in found] == [False, True]
        assert {one.collection for one in found} == {"recovered"}
        first = found[0]
        assert first.body == BOOKMARK.body
        assert first.tags == BOOKMARK.tags
        assert dict(first.properties) == {"rating": "5", "with": ["ada", "bob"]}
        # Nobody knows whose it was, so nobody but the keeper of the library may see it.
        assert first.owner is None
        for query in ("loam", "tomatoes", "beds", "love apples", "slow", "rating:5"):
            assert titles(library, query) == ["Soil"], query
        assert titles(library, "pond") == []


def test_tags_without_their_names_keep_their_documents(settings: Settings) -> None:
    """Documents that shared a tag share one afterwards, named by its stems if they are known."""
    with Library.open(settings=settings) as library:
        library.save_all(
            [
                Draft("a", body="ant", tags=("work", "slow cooking", "home")),
                Draft("b", body="bee", tags=("slow cooking",)),
                Draft("c", body="cat", tags=("home",)),
            ]
        )
    harm(settings, "DELETE FROM tags WHERE name = 'slow cooking'")
    for library in mended(settings):
        tags = {id: one.tags for id, one in everything(library).items()}
        name = "recovered-slow-cook"
        assert tags == {"a": ("work", name, "home"), "b": (name,), "c": ("home",)}
        library.rename_tag(name, "slow cooking")
        assert sorted(titles(library, 'tag:"slow cooking"')) == ["ant", "bee"]


@pytest.mark.parametrize("lost", ["collections", "documents", "tags"])
def test_nothing_new_takes_over_what_is_orphaned(settings: Settings, lost: str) -> None:
    """A new collection, document or tag gets no row number that orphans still refer to."""
    with Library.open(settings=settings) as library:
        library.save_all(
            [Draft("old", body="ant", tags=("x",), collection="c", properties={"n": 1})]
        )
    harm(settings, f"DELETE FROM {lost}")
    with Library.open(settings=settings) as library:
        assert library.save(Draft("new", body="bee", tags=("y",), collection="d")).created
        new = everything(library)["new"]
        assert (new.collection, new.tags, dict(new.properties)) == ("d", ("y",), {})
        library.repair()
        assert library.check() == []
        found = {one.body: one for one in everything(library).values()}
        assert found["bee"] == new
        assert found["ant"].collection in ("c", "recovered")
        assert found["ant"].tags in (("x",), ("recovered-x",))


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM {}",
        "DELETE FROM {} WHERE rowid % 2",
        "DELETE FROM {} WHERE NOT rowid % 2",
    ],
)
@pytest.mark.parametrize("table", ["collections", "documents", "texts", "tags", "chunks"])
def test_whatever_rows_are_gone_the_rest_stays(
    settings: Settings, folder: Path, table: str, statement: str
) -> None:
    """No text, id, tag or property that is still in the file is gone after mending."""
    if table == "chunks":
        statement = statement.replace("rowid", "document")
    with Library.open(settings=settings) as library:
        library.index(folder)
        library.save_all([BOOKMARK, Draft("a", body="ant", tags=("x",), properties={"n": 1})])
        library.embed()
    # The index of words is torn as well: it must not stand in the way.
    harm(settings, statement.format(table) + ";UPDATE words_data SET block = x'00' WHERE id > 10")
    connection = apsw.Connection(str(settings.db))
    bodies = {body for (body,) in connection.execute("SELECT body FROM texts")}
    ids = {id for (id,) in connection.execute("SELECT id FROM documents")}
    names = {name for (name,) in connection.execute("SELECT name FROM tags")}
    pairs = set(connection.execute("SELECT document, tag FROM document_tags"))
    connection.close()
    for library in mended(settings):
        found = everything(library)
        assert bodies <= {one.body for one in found.values()}
        assert ids <= set(found)
        tags = [tag for one in found.values() for tag in one.tags]
        assert names <= set(tags)
        assert len(pairs) == len(tags)
