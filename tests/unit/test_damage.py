"""A damaged file is never called sound, never a traceback, and is mended as far as it goes."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest

from twolane.library import Library
from twolane.model.document import Document
from twolane.model.draft import Draft
from twolane.model.errors import NotADatabase, TwolaneError
from twolane.model.scope import ANYWHERE, Capability
from twolane.settings import Settings
from twolane.stores.sqlite.database import Database
from twolane.stores.sqlite.parts import parts

TEXTS = {
    "tea": "# Tea\n\nGreen leaves in hot water, and a [[biscuit]].",
    "rye": "# Bread\n\nRye and water, a crumb that is dense.",
    "fern": "Spores under the leaves, in the shade.\n",
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A library of saved documents and of files, at rest in one file."""
    made = Settings(db=tmp_path / "d.db", embedding={"embedder": "hashing"})
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "moss.md").write_text("---\ncolour: green\n---\n# Moss\n\nSoft under the firs.\n")
    with Library.open(settings=made) as library:
        for id, text in TEXTS.items():
            library.save(
                Draft(id, title=id.title(), body=text, tags=("plants",), properties={"a": ["b"]})
            )
        library.index(folder)
        library.embed()
        assert library.check() == []
    return made


def harm(settings: Settings, statement: str, *values: object) -> None:
    """Do to the file what no program of ours would."""
    with closing(apsw.Connection(str(settings.db))) as connection:
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        # Triggers would keep what is derived in step, as a flipped bit would not.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        connection.execute(statement, values)


def everything(library: Library) -> dict[str, Document]:
    """All documents with their texts."""
    ids = [one.id for one in library.search("", limit=50).results]
    return {id: library.document(id, scope=ANYWHERE) for id in ids}


@contextmanager
def refused_in_one_sentence() -> Iterator[None]:
    """Let nothing out but our own errors, of one line."""
    try:
        yield
    except TwolaneError as error:
        said = str(error)
    else:
        said = ""
    assert "\n" not in said


HARM = {
    "another letter in a body": "UPDATE texts SET body = replace(body, 'Green', 'Greed')",
    "another letter in a file's body": "UPDATE texts SET body = replace(body, 'Soft', 'Sift')",
    "an overwritten body": "UPDATE texts SET body = 'something else' WHERE row = 1",
    "an emptied body": "UPDATE texts SET body = '' WHERE row = 2",
    "a body of bytes": "UPDATE texts SET body = zeroblob(40) WHERE row = 2",
    "a body that is no UTF-8": "UPDATE texts SET body = CAST(x'fffe41' AS TEXT) WHERE row = 3",
    "a title that is no UTF-8": "UPDATE documents SET title = CAST(x'ff42' AS TEXT) WHERE row = 1",
    "another title": "UPDATE documents SET title = 'Tee' WHERE row = 1",
    "other stems": "UPDATE texts SET stems = replace(stems, 'water', 'watar')",
    "headings that are no JSON": "UPDATE documents SET headings = '[[1, ' WHERE row = 1",
    "properties that are a list": "UPDATE documents SET properties = '[1]' WHERE row = 1",
    "links of the wrong shape": "UPDATE documents SET links = '[[1]]' WHERE row = 1",
    "a kind that there is not": "UPDATE documents SET kind = 'nite' WHERE row = 1",
    "a time that is a text": "UPDATE documents SET updated = 'never' WHERE row = 1",
    "no hash": "DELETE FROM seals WHERE document = 1",
    "another hash": "UPDATE seals SET digest = x'00' WHERE document = 1",
    "a tag that is no UTF-8": "UPDATE tags SET name = CAST(x'ff' AS TEXT)",
    "a name that is no UTF-8": "UPDATE collections SET name = CAST(x'ff' AS TEXT) WHERE row = 1",
    "a passage that is gone": "DELETE FROM chunks WHERE document = 1",
    "no counter": "DELETE FROM counters",
    "no totals": "DELETE FROM totals",
    "a tagging that is gone": "DELETE FROM document_tags WHERE document = 2",
    "stems that are bytes": "UPDATE texts SET stems = zeroblob(9) WHERE row = 1",
}


@pytest.mark.parametrize("statement", HARM.values(), ids=HARM)
def test_harm_to_texts_is_found_and_mended(settings: Settings, statement: str) -> None:
    """What is not as it was written is a problem, the digest says so, and mending ends it."""
    with Library.open(settings=settings) as library:
        digest, before = library.digest(), everything(library)
    harm(settings, statement)
    with Library.open(settings=settings) as library:
        told = library.check()
        assert told
        if "body" in statement:
            assert _digest(library) != digest
    with Library.open(settings=settings) as library:
        mended = library.repair()
        assert mended
        # Counts agree with their nouns.
        assert not [one.reason for one in (*told, *mended) if re.search(r"\b1 \w+s\b", one.reason)]
        assert library.check() == []
        assert library.repair() == []
        library.index(settings.db.parent / "notes" if settings.db else "")
        library.embed()
        assert library.check() == []
        after = everything(library)
        assert len(after) == len(before)
        assert after["notes/moss.md"].body == before["notes/moss.md"].body


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM counters",
        "DELETE FROM totals",
        "UPDATE texts SET title = zeroblob(9)",
    ],
)
def test_a_surprise_in_a_damaged_file_is_damage(settings: Settings, statement: str) -> None:
    """What cannot be read as it should be is refused with what to do, and is no crash."""
    harm(settings, statement)
    with Library.open(settings=settings) as library:
        for use in (
            lambda: library.search("water"),
            library.status,
            lambda: library.save(Draft("new", title="New", body="Water")),
        ):
            with refused_in_one_sentence():
                use()
        with pytest.raises(NotADatabase, match="doctor --fix"):
            library.search("water", mode="lexical")


def test_a_surprise_in_a_sound_file_is_our_mistake(settings: Settings) -> None:
    """Nothing that is wrong with the program is blamed on the file."""
    assert settings.db is not None
    database = Database.open(settings.db, create=False)
    try:
        for use in (database.read, database.write):
            with pytest.raises(LookupError, match="ours"), use():
                raise LookupError("ours")
    finally:
        database.close()


@pytest.mark.parametrize(
    "statement", ["DROP TABLE document_tags", "DELETE FROM document_tags WHERE document = 2"]
)
def test_tags_come_back_from_what_is_searched(settings: Settings, statement: str) -> None:
    """The searchable text of a document still has its tags."""
    harm(settings, statement)
    with Library.open(settings=settings) as library:
        assert any("put back" in one.reason for one in library.repair())
        assert library.check() == []
        assert {one.tags for id, one in everything(library).items() if id in TEXTS} == {("plants",)}


@pytest.mark.parametrize("version", [0, 1, 2, 3, -1])
def test_a_wrong_version_is_put_right(settings: Settings, version: int) -> None:
    """A file that has all of the newest schema but its number is opened, and is sound."""
    with Library.open(settings=settings) as library:
        digest = library.digest()
    harm(settings, f"PRAGMA user_version = {version}")
    with Library.open(settings=settings) as library:
        assert library.check() == []
        assert library.digest() == digest


def test_a_wrong_version_of_a_torn_schema_is_refused(settings: Settings) -> None:
    """Where more than the number is wrong, one sentence says so, and the file is left alone."""
    harm(settings, "DROP TABLE jobs; PRAGMA user_version = 0")
    with pytest.raises(NotADatabase, match="restore a backup") as raised:
        Library.open(settings=settings)
    assert "\n" not in str(raised.value)


TABLES = [name for name, kind in parts().kinds.items() if kind in ("table", "virtual", "shadow")]


@pytest.mark.parametrize("table", [*TABLES, "lengths", "tag_streams"])
def test_a_missing_table_is_found_and_made_again(settings: Settings, table: str) -> None:
    """Whichever table is gone, it is named, everything else says one sentence, and it is mended."""
    kind = parts().kinds[table]
    harm(settings, f"DROP {'VIEW' if kind == 'view' else 'TABLE'} {table}")
    with Library.open(settings=settings) as library:
        assert table in {one.path for one in library.check()}
        for ask in (library.digest, lambda: library.search("water"), lambda: everything(library)):
            with refused_in_one_sentence():
                ask()
    with Library.open(settings=settings) as library:
        assert library.repair()
        assert library.check() == []
        if table not in ("documents", "texts"):
            assert library.search("rye", mode="lexical").results


def test_a_bad_index_is_made_again(settings: Settings) -> None:
    """An index that lacks rows is found, and made again."""
    harm(
        settings,
        "PRAGMA writable_schema = ON;"
        "UPDATE sqlite_schema SET sql = 'CREATE INDEX documents_by_kind ON documents(title)'"
        " WHERE name = 'documents_by_kind'; PRAGMA writable_schema = RESET",
    )
    with Library.open(settings=settings) as library:
        assert library.check()
    with Library.open(settings=settings) as library:
        library.repair()
        assert library.check() == []


@pytest.mark.parametrize("seed", range(8))
def test_flipped_bytes_are_never_sound_and_never_a_traceback(
    settings: Settings, tmp_path: Path, seed: int
) -> None:
    """Bytes that change anywhere in the file: what is called sound says what was written."""
    chance = random.Random(seed)
    with Library.open(settings=settings) as library:
        before = everything(library)
    with closing(apsw.Connection(str(settings.db))) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = (settings.db or tmp_path).read_bytes()
    for number in range(12):
        path = tmp_path / f"flipped-{number}.db"
        content = bytearray(whole)
        for _ in range(chance.choice((1, 1, 3, 20))):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.write_bytes(content)
        _ask_everything(settings.changed(db=path), before)


def test_flipped_letters_are_never_sound(settings: Settings, tmp_path: Path) -> None:
    """Every place of the file where a word of a text stands is covered by a check."""
    with closing(apsw.Connection(str(settings.db))) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with Library.open(settings=settings) as library:
        before = everything(library)
    whole = (settings.db or tmp_path).read_bytes()
    path = tmp_path / "flipped.db"
    for word in (b"Green leaves", b"crumb", b"Spores", b"Soft under", b"colour"):
        at = whole.find(word)
        while at >= 0:
            for ending in ("-wal", "-shm"):
                path.with_name(path.name + ending).unlink(missing_ok=True)
            shutil.copyfile(settings.db or path, path)
            content = bytearray(whole)
            content[at + 1] ^= 0x01
            path.write_bytes(content)
            _ask_everything(settings.changed(db=path), before)
            at = whole.find(word, at + 1)


def _digest(library: Library) -> str | None:
    """The digest, unless the library says that it cannot tell."""
    try:
        return library.digest()
    except TwolaneError:
        return None


def _ask_everything(settings: Settings, before: dict[str, Document]) -> None:
    """Open, check, search, read, mend: only our own errors, each in one sentence."""
    with refused_in_one_sentence(), Library.open(settings=settings) as library:
        sound = library.check() == []
        for mode in ("lexical", "hybrid", "exact"):
            library.search("water leaves", mode=mode)
        found = everything(library)
        library.status()
        library.digest()
        if sound:
            assert _said(found) == _said(before)
    with refused_in_one_sentence(), Library.open(settings=settings) as library:
        library.repair()
        library.check()


def _said(documents: dict[str, Document]) -> dict[str, tuple[object, ...]]:
    return {id: (one.title, one.body, one.headings) for id, one in documents.items()}


def test_lost_tokens_let_nobody_in(settings: Settings) -> None:
    """A table of tokens that was made again is empty, and tokens are asked for as before."""
    with Library.open(settings=settings) as library:
        library.add_token("phone", owner=None, capabilities=["search.use"])
    harm(settings, "DROP TABLE tokens")
    with Library.open(settings=settings) as library:
        assert any("tokens are gone" in str(one) for one in library.repair())
        assert library.check() == []
        assert library.tokens() == [] and library.had_tokens()


def test_a_damaged_token_permits_nothing_more(settings: Settings) -> None:
    """What is no capability is none."""
    with Library.open(settings=settings) as library:
        _, text = library.add_token("phone", owner=None, capabilities=["search.use", "admin"])
        harm(settings, "UPDATE tokens SET capabilities = 'search.use admim'")
        token = library.token_of(text)
        assert token is not None and token.capabilities == {Capability.SEARCH}
