"""What only the PostgreSQL store promises: migrations, many writers, its wall, its indexes."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from tests.builders import COLLECTION, embed, phrase, prepared, put, space, unit, word
from tests.postgres_server import BLANK, Server
from tests.waiting import PATIENCE
from twolane import Library, Settings
from twolane.model import deadlines
from twolane.model.deadlines import Deadline
from twolane.model.document import Amendment, Batch, Collection, Prepared, Stems
from twolane.model.errors import (
    BadSetting,
    Conflict,
    NewerSchema,
    NoDatabase,
    NotADatabase,
    StoreBusy,
    StoreError,
    TooSlow,
)
from twolane.model.scope import Scope
from twolane.ports import Stores
from twolane.ports.documents import PutCollection
from twolane.stores.memory import memory_stores
from twolane.stores.postgres import (
    documents,
    lexemes,
    lexical,
    migrating,
    open_stores,
    vectors,
)
from twolane.stores.postgres.changing import Changing
from twolane.stores.postgres.conditions import holding
from twolane.stores.postgres.database import Database, Session
from twolane.stores.postgres.vectors import PostgresVectors

X, Y = unit(1, 0, 0, 0), unit(0, 1, 0, 0)


@pytest.fixture
def store(postgres_url: str) -> Iterator[Stores]:
    """A new store with one empty collection."""
    opened = open_stores(postgres_url)
    opened.documents.apply(PutCollection(Collection(COLLECTION)))
    yield opened
    opened.maintenance.close()


@pytest.fixture
def blank(postgres: Server) -> Iterator[str]:
    """The address of a database without any tables of ours."""
    name = postgres.create(template=BLANK)
    yield postgres.url(name)
    postgres.drop(name)


def database_of(store: Stores) -> Database:
    """The database under a store."""
    assert isinstance(store.vectors, PostgresVectors)
    return store.vectors._db


class TestMigrations:
    """The tables are made and changed by numbered files, forwards only."""

    def test_tables_are_made_only_when_told(self, blank: str) -> None:
        """Whoever only asks makes no tables."""
        with pytest.raises(NoDatabase):
            open_stores(blank, create=False)
        open_stores(blank).maintenance.close()
        open_stores(blank, create=False).maintenance.close()

    def test_many_at_once_make_them_once(self, blank: str) -> None:
        """Processes that start together wait for the one that makes the tables."""

        def start(_: int) -> None:
            open_stores(blank).maintenance.close()

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(start, range(4)))
        with psycopg.connect(blank) as connection:
            taken = connection.execute("SELECT number FROM twolane.migrations ORDER BY 1")
            assert [n for (n,) in taken] == [step.number for step in migrating.known()]

    def test_a_newer_schema_is_refused(self, postgres_url: str) -> None:
        """An older program leaves tables alone that it does not know."""
        with psycopg.connect(postgres_url) as connection:
            connection.execute("INSERT INTO twolane.migrations(number, name) VALUES (999, 'later')")
        with pytest.raises(NewerSchema, match="upgrade Twolane"):
            open_stores(postgres_url)

    def test_a_schema_of_others_is_refused(self, blank: str) -> None:
        """Tables that happen to be in a schema of this name are not touched."""
        with psycopg.connect(blank) as connection:
            connection.execute("CREATE SCHEMA twolane")
            connection.execute("CREATE TABLE twolane.theirs(a integer)")
        with pytest.raises(NotADatabase, match="another program"):
            open_stores(blank)

    def test_a_failed_step_leaves_nothing(self, blank: str) -> None:
        """A step is taken as a whole, or not at all, and can be taken again."""
        bad = migrating.Migration(1, "bad", "CREATE TABLE twolane.half(a integer);\nSELECT 1/0")
        with psycopg.connect(blank, autocommit=True) as connection:
            with pytest.raises(psycopg.Error):
                migrating.upgrade(connection, "here", [bad])
            assert migrating.applied(connection, "here") == 0
            good = migrating.Migration(1, "good", "CREATE TABLE twolane.half(a integer)")
            assert migrating.upgrade(connection, "here", [good]) == [good]
            assert migrating.upgrade(connection, "here", [good]) == []

    def test_a_step_waits_for_a_table_no_longer_than_others_can(
        self, blank: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A table that somebody reads for long is left alone; the step is taken another time."""
        monkeypatch.setattr(migrating, "LOCK_SECONDS", 0.1)
        with psycopg.connect(blank, autocommit=True) as connection:
            connection.execute("SET search_path TO twolane, public")
            migrating.upgrade(connection, "here", migrating.known()[:2])
        with psycopg.connect(blank) as reader:
            reader.execute("LOCK TABLE twolane.generations IN ACCESS SHARE MODE")
            with pytest.raises(StoreBusy, match="try again"):
                open_stores(blank)
        open_stores(blank).maintenance.close()

    def test_a_step_outside_of_a_transaction_builds_indexes(self, blank: str) -> None:
        """Later indexes are built while others write."""
        first = migrating.Migration(1, "table", "CREATE TABLE twolane.big(a integer)")
        later = migrating.Migration(
            2,
            "index",
            "-- outside of a transaction\n"
            "CREATE INDEX CONCURRENTLY IF NOT EXISTS big_a ON twolane.big(a);\n",
        )
        with psycopg.connect(blank, autocommit=True) as connection:
            migrating.upgrade(connection, "here", [first, later])
            assert migrating.applied(connection, "here") == 2

    def test_numbers_follow_each_other(self) -> None:
        """No number is left out or used twice."""
        assert [one.number for one in migrating.known()] == list(
            range(1, len(migrating.known()) + 1)
        )


class TestManyWriters:
    """Nobody's change is lost, and nobody waits for a stranger."""

    def test_of_two_changes_to_one_version_one_wins(self, store: Stores) -> None:
        """The other one is a conflict, however close they are."""
        put(store, prepared("a", "ant"))

        def change(number: int) -> str:
            try:
                store.documents.apply(Amendment("a", 1, tags=(f"t{number}",)))
            except Conflict:
                return "conflict"
            return "changed"

        with ThreadPoolExecutor(6) as pool:
            told = list(pool.map(change, range(6)))
        assert sorted(told) == ["changed"] + ["conflict"] * 5
        assert store.documents.get(["a"])["a"].document.version == 2
        assert store.maintenance.check() == []

    def test_of_two_new_documents_with_one_id_one_is_new(self, store: Stores) -> None:
        """Whoever demanded that there is none is told that there is one."""

        def save(number: int) -> bool:
            batch = Batch(COLLECTION, upserts=[prepared("a", f"ant {number}")], expected={"a": 0})
            try:
                store.documents.apply(batch)
            except Conflict:
                return False
            return True

        with ThreadPoolExecutor(6) as pool:
            assert sum(pool.map(save, range(6))) == 1
        assert store.maintenance.check() == []

    def test_a_long_writer_keeps_nobody_else_waiting(self, store: Stores) -> None:
        """A batch that is being written does not stop the save of another document."""
        began, go_on = threading.Event(), threading.Event()

        def slow(session: Session) -> None:
            Changing(session).make([Batch(COLLECTION, upserts=[prepared("slow", "ant")])])
            began.set()
            assert go_on.wait(PATIENCE)

        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(database_of(store).writing, slow)
            assert began.wait(PATIENCE)
            put(store, prepared("quick", "bee"))
            assert set(store.documents.get(["slow", "quick"])) == {"quick"}
            go_on.set()
            waiting.result(20)
        assert set(store.documents.get(["slow", "quick"])) == {"slow", "quick"}
        assert store.maintenance.check() == []

    def test_workers_share_the_work(self, store: Stores) -> None:
        """Workers that claim at the same time never get the same passage, and get all of them."""
        put(store, *(prepared(f"{n:03}", f"ant n{n}") for n in range(60)))
        generation = store.vectors.open_generation(space()).number

        def work(name: int) -> list[str]:
            found: list[str] = []
            while some := store.queue.claim(generation, worker=str(name), limit=3, seconds=60):
                found += [one.content_hash for one in some]
            return found

        with ThreadPoolExecutor(4) as pool:
            claimed = [hash for found in pool.map(work, range(4)) for hash in found]
        assert len(claimed) == len(set(claimed)) == 60

    def test_owners_take_turns(self, store: Stores) -> None:
        """Nobody waits for the end of another's long import, whatever their ids are."""
        put(store, *(prepared(f"a{n:03}", f"ant n{n}", owner="ann") for n in range(40)))
        put(store, prepared("z1", "zebra", owner="zoe"), prepared("m1", "mole"))
        generation = store.vectors.open_generation(space()).number
        first = store.queue.claim(generation, worker="w", limit=6, seconds=60)
        assert {"z1", "m1"} < {one.document for one in first}
        assert len(first) == 6
        rest = store.queue.claim(generation, worker="w", limit=100, seconds=60)
        assert len(rest) == 36
        assert store.queue.claim(generation, worker="w", limit=9, seconds=60) == []

    def test_what_another_worker_is_taking_is_passed_over(self, store: Stores) -> None:
        """A claim does not wait for a claim that is not committed yet."""
        put(store, prepared("a", "ant"), prepared("b", "bee"))
        generation = store.vectors.open_generation(space()).number
        with psycopg.connect(database_of(store)._pool.conninfo) as other:
            other.execute("SET twolane.who = '*'")
            other.execute(
                "SELECT 1 FROM twolane.chunks AS c JOIN twolane.documents AS d"
                " ON d.row = c.document WHERE d.id = 'a' FOR UPDATE OF c"
            )
            claimed = store.queue.claim(generation, worker="w", limit=9, seconds=9)
            assert [one.document for one in claimed] == ["b"]
        claimed = store.queue.claim(generation, worker="w", limit=9, seconds=9)
        assert [one.document for one in claimed] == ["a"]


class TestTheWall:
    """A missing owner sees nothing rather than everything."""

    @pytest.fixture(autouse=True)
    def _documents(self, store: Stores) -> None:
        ann, bob = prepared("a", "ant", owner="ann", tags=("x",)), prepared("b", "bee", owner="bob")
        put(store, ann, bob, prepared("n", "nobody's"))
        generation = store.vectors.open_generation(space()).number
        embed(store, generation, ann, X)
        embed(store, generation, bob, Y)

    def test_a_statement_that_forgets_the_owner_sees_no_others(self, store: Stores) -> None:
        """Inside a transaction for an owner, the server shows that owner's rows alone."""
        for table, columns in (
            ("documents", "owner"),
            ("texts", "owner"),
            ("chunks", "owner"),
            ("vectors", "owner"),
            ("tags", "owner"),
            ("own_words", "owner"),
            ("own_letters", "owner"),
        ):
            with database_of(store).reading(Scope(owner="ann")) as session:
                assert session.rows(f"SELECT DISTINCT {columns} FROM {table}") == [("ann",)]
            with database_of(store).reading(Scope(owner="zoe")) as session:
                assert session.rows(f"SELECT {columns} FROM {table}") == []

    def test_whoever_says_nothing_sees_nothing(self, store: Stores) -> None:
        """A connection of which nobody said whose it is shows no row, and changes none."""
        with psycopg.connect(database_of(store)._pool.conninfo) as stranger:
            for table in (
                *("documents", "texts", "chunks", "vectors", "tags", "tokens", "receipts"),
                *("own_words", "own_letters"),
            ):
                found = stranger.execute(f"SELECT count(*) FROM twolane.{table}".encode())
                assert found.fetchone() == (0,), table
            gone = stranger.execute("DELETE FROM twolane.documents")
            assert gone.rowcount == 0
        assert len(store.documents.list(Scope())) == 3

    def test_searches_read_words_and_letters_behind_the_wall(self) -> None:
        """Only what writes, counts for the check and mends reads the tables themselves."""
        folder = Path(lexemes.__file__).parent
        direct = re.compile(r"(?:FROM|JOIN) (?:words|letters)\b")
        reading = {path.stem for path in folder.glob("*.py") if direct.search(path.read_text())}
        assert reading <= {"maintenance", "writing"}

    def test_nobody_can_call_themselves_everybody(self, store: Stores) -> None:
        """An owner whose name is the sign for everybody sees what is theirs: nothing."""
        for name in ("*", "=ann", "", "' OR true --"):
            scope = Scope(owner=name)
            assert store.documents.list(scope) == []
            assert store.lexical.candidates([word("ant")], scope, every=True, limit=9) == []


class TestSnapshot:
    """What a thread reads in a row may be one transaction, with the wall as it was."""

    def test_all_is_of_one_state(self, store: Stores, postgres_url: str) -> None:
        """What others commit meanwhile is seen afterwards, and by other threads."""
        put(store, prepared("a", "ant"))
        other = open_stores(postgres_url)
        try:
            with store.snapshot():
                assert len(store.documents.list(Scope())) == 1
                put(other, prepared("b", "bee"))
                with store.snapshot():
                    assert len(store.documents.list(Scope())) == 1
                with ThreadPoolExecutor() as threads:
                    assert len(threads.submit(store.documents.list, Scope()).result()) == 2
            assert len(store.documents.list(Scope())) == 2
        finally:
            other.maintenance.close()

    def test_every_question_is_asked_for_its_owner(self, store: Stores) -> None:
        """Behind the wall of one owner, then of another, then of everybody."""
        put(store, prepared("a", "ant", owner="ann"), prepared("b", "bee", owner="b?:b%"))
        everything = "SELECT id FROM documents ORDER BY id"
        with store.snapshot():
            for owner, ids in (("ann", ["a"]), ("b?:b%", ["b"]), (None, ["a", "b"]), ("x", [])):
                with database_of(store).reading(Scope(owner=owner)) as session:
                    assert [id for (id,) in session.rows(everything)] == ids
                    # Another question inside of one has a connection of its own.
                    with database_of(store).reading() as inner:
                        assert len(inner.rows(everything)) == 2
                    assert [id for (id,) in session.rows(everything)] == ids

    def test_whoever_waits_lets_go_of_the_connection(self, postgres_url: str) -> None:
        """Others can ask meanwhile, and what is asked afterwards may be of a later state."""
        store = open_stores(postgres_url, connections=1, busy_seconds=0.2)
        store.documents.apply(PutCollection(Collection(COLLECTION)))
        try:
            with store.snapshot(), ThreadPoolExecutor() as threads:
                assert store.documents.list(Scope()) == []
                with pytest.raises(StoreBusy):
                    threads.submit(put, store, prepared("a", "ant")).result()
                store.pause()
                threads.submit(put, store, prepared("a", "ant")).result()
                assert len(store.documents.list(Scope())) == 1
        finally:
            store.maintenance.close()

    def test_what_is_known_is_known_to_its_owner(self, store: Stores) -> None:
        """What one question was told is told again to questions of the same owner alone."""
        put(store, prepared("a", "ant", owner="ann"))
        statement = "SELECT id FROM documents WHERE owner = ?"
        with store.snapshot():
            for owner, ids in (("ann", ["a"]), ("bob", []), (None, ["a"]), ("ann", ["a"])):
                with database_of(store).reading(Scope(owner=owner)) as session:
                    assert [id for (id,) in session.known(statement, ("ann",))] == ids

    def test_an_error_is_not_the_end_of_it(self, store: Stores) -> None:
        """The next question begins another transaction, within its own time."""
        with store.snapshot():
            with (
                pytest.raises(TooSlow),
                deadlines.within(Deadline(0.2)),
                database_of(store).reading() as session,
            ):
                session.rows("SELECT pg_sleep(5)")
            with database_of(store).reading() as session:
                assert session.rows("SHOW statement_timeout") == [("1min",)]


class TestIndexes:
    """Large generations are searched through an index, and still give all that was asked for."""

    @pytest.fixture
    def many(self, store: Stores, monkeypatch: pytest.MonkeyPatch) -> int:
        """A generation of 300 documents that counts as large."""
        monkeypatch.setattr(vectors, "FEW", 50)
        monkeypatch.setattr("twolane.stores.postgres.maintenance.EXACTLY", 50)
        generation = store.vectors.open_generation(space()).number
        documents = [
            prepared(f"{n:03}", f"ant n{n}", owner="ann" if n % 100 else "bob") for n in range(300)
        ]
        put(store, *documents)
        for n, one in enumerate(documents):
            embed(store, generation, one, unit(1, n / 300, 0, 0))
        return generation

    def test_the_index_is_built_beside_other_work_and_used(self, store: Stores, many: int) -> None:
        """It is there once the store has settled, and the nearest documents are the same."""
        exact = store.vectors.nearest(many, X, Scope(), limit=10, detail=2)
        store.maintenance.settle()
        store.maintenance.settle()
        with database_of(store).reading() as session:
            question = vectors.Question(many, X, ("true", []), 10, -1.0, 0)
            assert vectors._is_large(session, question)
            assert vectors._by_index(session, question) is not None
        again = store.vectors.nearest(many, X, Scope(), limit=10, detail=2)
        assert [one.id for one in again] == [one.id for one in exact]
        assert [one.chunks for one in again] == [one.chunks for one in exact]

    def test_a_selective_scope_gets_all_of_it(self, store: Stores, many: int) -> None:
        """Few documents of many are compared one by one, so that none is missed."""
        store.maintenance.settle()
        found = store.vectors.nearest(many, X, Scope(owner="bob"), limit=10)
        assert [one.id for one in found] == ["000", "100", "200"]
        assert len(store.vectors.nearest(many, X, Scope(), limit=1000)) == 300

    def test_the_index_goes_with_its_generation(self, store: Stores, many: int) -> None:
        """A generation that was dropped leaves no index behind once the store has settled."""
        store.maintenance.settle()
        other = store.vectors.open_generation(space("other")).number
        from twolane.model.space import GenerationState

        store.vectors.set_state({other: GenerationState.SERVING})
        store.vectors.set_state({many: None})
        store.maintenance.settle()
        with database_of(store).reading() as session:
            there = "SELECT indexname FROM pg_indexes WHERE indexname LIKE 'vectors_near%'"
            assert session.rows(there) == []


class TestPreparing:
    """What is asked often is planned once, where the server itself is asked."""

    PREPARED = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%tags AS t%'"

    def often(self, url: str) -> int:
        """How many statements are prepared after many equal questions on one connection."""
        store = open_stores(url, connections=1)
        try:
            for _ in range(10):
                store.documents.facets(Scope())
            with database_of(store).reading() as session:
                return int(session.rows(self.PREPARED)[0][0])
        finally:
            store.maintenance.close()

    def test_often_asked_is_prepared(self, postgres_url: str) -> None:
        """By a connection that speaks to the server."""
        assert self.often(postgres_url)

    def test_a_pooler_is_told_of_nothing_prepared(
        self, postgres_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A pooler is told by its number, which is not that of the process that answers."""
        monkeypatch.setattr(psycopg.ConnectionInfo, "backend_pid", property(lambda info: 1))
        assert not self.often(postgres_url)


class TestFewDocuments:
    """What an owner with few documents has is looked through, with the same answers."""

    def test_the_answers_are_those_of_the_indexes(
        self, store: Stores, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Names, words and how many documents hold them."""
        put(
            store,
            prepared("a", "ant bee bee", owner="ann", title="Ant hill"),
            prepared("b", "bee 50%_off", owner="ann", title="50%_off"),
            prepared("c", "ant cow", owner="bob", title="Ant hill"),
        )
        ann, words = Scope(owner="ann"), [word("ant"), word("be", prefix=True)]

        def answers() -> list[object]:
            lexical = store.lexical
            return [
                lexical.candidates(words, ann, every=True, limit=9),
                sorted(one.id for one in lexical.candidates(words, ann, every=False, limit=9)),
                lexical.named([["\nant", "hill\n"]], ann, limit=9),
                lexical.named([["hill\n"], ["50  o"]], ann, limit=9),
                lexical.named([["cow"]], ann, limit=9),
                lexical.document_frequencies([*words, word("cow")], ann),
            ]

        looked_through = answers()
        for module in (lexical, documents):
            monkeypatch.setattr(module, "FEW", 0)
        # What was counted is forgotten with the next change.
        put(store, prepared("d", "cow", owner="ann"))
        assert answers()[:-1] == looked_through[:-1]
        frequencies = store.lexical.document_frequencies(words, ann)
        assert list(frequencies.document_frequency.values()) == [1, 2]


class TestLetters:
    """With pg_trgm an index finds letters inside of words; without it the answer is the same."""

    NEEDLES = (
        "rgam",
        "ТЁПЛ",
        "льду",
        "100%_",
        "%",
        "_a",
        "\\n",
        "it's",
        "ab",
        "日本",
        "https://ex",
        "nowhere",
    )

    @pytest.fixture
    def texts(self, store: Stores) -> list[Prepared]:
        """Enough documents for an index to pay, with signs that mean something in patterns."""
        told = ("bergamot tea", "тёплый чай на льду", r"C:\new 100%_a it's", "東京と日本の夏")
        documents = [
            prepared(
                f"{n:04}",
                f"{told[n % 4]} {n} and some words around it",
                url=f"https://example.com/{n}",
                owner="ann" if n % 3 else "bob",
            )
            for n in range(2000)
        ]
        put(store, *documents)
        return documents

    def answers(self, store: Stores, scope: Scope) -> list[object]:
        lexical = store.lexical
        return [
            *(lexical.substring(needle, scope, limit=3000) for needle in self.NEEDLES),
            lexical.named([["example"], ["льду", "чай"]], scope, limit=3000),
        ]

    def test_the_index_is_used_and_changes_no_answer(
        self, store: Stores, texts: list[Prepared]
    ) -> None:
        """Also for Cyrillic letters, and for those that patterns are made of."""
        memory = memory_stores()
        memory.documents.apply(PutCollection(Collection(COLLECTION)))
        put(memory, *texts)
        assert "pg_trgm" in database_of(store).extensions
        for scope in (Scope(), Scope(owner="bob")):
            expected = self.answers(memory, scope)
            assert self.answers(store, scope) == expected
            store.maintenance.settle()
            assert self.answers(store, scope) == expected
        with database_of(store).reading() as session:
            session.run("SET LOCAL enable_seqscan = off")
            for column, needle in (("names", "example.com/77"), ("texts", "льду 10")):
                plan = session.rows(
                    f"EXPLAIN SELECT document FROM own_letters WHERE {column} LIKE ?",
                    (holding(needle),),
                )
                assert f"letters_of_{column}" in str(plan)
            # Where letters of a language are none to it, the index would be read whole.
            assert session.rows("SELECT cardinality(show_trgm('льду')) > 1") == [(True,)]

    def test_a_server_without_it_looks_through_the_letters(
        self, store: Stores, texts: list[Prepared], postgres: Server, postgres_url: str
    ) -> None:
        """Settling builds no index there, and the same is found."""
        expected = self.answers(store, Scope())
        postgres.execute("DROP EXTENSION pg_trgm CASCADE", database=postgres_url.rpartition("/")[2])
        bare = open_stores(postgres_url)
        try:
            bare.maintenance.settle()
            with database_of(bare).reading() as session:
                indexes = "SELECT 1 FROM pg_indexes WHERE indexname LIKE 'letters_of_%'"
                assert session.rows(indexes) == []
            assert self.answers(bare, Scope()) == expected
        finally:
            bare.maintenance.close()


class TestPathEndings:
    """A document is named by the end of its path, found through an index."""

    def test_the_end_of_a_path_names_a_document(self, store: Stores) -> None:
        """Case makes no difference, half a name is none, and signs of patterns are signs."""
        put(
            store,
            prepared("a", path="trips/2024/Ёлка.md"),
            prepared("b", path="old/100%_a.md"),
            prepared("c", path="x" * 700 + "/long.md"),
        )
        for name, ids in (
            ("ёлка.md", ["a"]),
            ("2024/ЕЛКА.md", ["a"]),
            ("лка.md", []),
            ("100%_A.md", ["b"]),
            ("%_a.md", []),
            ("long.md", ["c"]),
            ("x" * 700 + "/long.md", ["c"]),
        ):
            assert list(store.documents.resolve([name], Scope())) == ids, name

    def test_rows_of_an_earlier_version_are_found_and_brought_up_to_date(
        self, store: Stores
    ) -> None:
        """They have no end noted; settling notes it, and an index is asked for all."""
        put(store, prepared("a", path="trips/Ant.md"))
        forget = "UPDATE documents SET path_end = NULL"
        database_of(store).writing(lambda session: session.run(forget))
        assert list(store.documents.resolve(["ant.md"], Scope())) == ["a"]
        store.maintenance.settle()
        with database_of(store).reading() as session:
            assert session.rows("SELECT path_end FROM documents") == [("dm.tna/spirt/",)]
            session.run("SET LOCAL enable_seqscan = off")
            plan = session.rows(
                "EXPLAIN SELECT id FROM documents WHERE path_end >= ? AND path_end < ?",
                ("dm.tna/", "dm.tna0"),
            )
        assert "documents_by_path_end" in str(plan)


class TestListening:
    """Who embeds hears of new documents at once."""

    def test_a_save_of_another_process_wakes(self, store: Stores, postgres_url: str) -> None:
        """Soon after it is committed; a change that leaves no work wakes nobody."""
        other = open_stores(postgres_url)
        woken = threading.Event()
        try:
            store.queue.listen(woken.set)
            # Once when it begins to listen.
            assert woken.wait(PATIENCE)
            woken.clear()
            other.documents.apply(PutCollection(Collection("other")))
            assert not woken.wait(0.3)
            put(other, prepared("a", "ant"))
            assert woken.wait(PATIENCE)
        finally:
            other.maintenance.close()


class TestReplica:
    """Searches ask a copy of the database while there is one."""

    def copied(self, url: str, replica: str) -> Stores:
        return open_stores(url, replica=(replica, "the copy"))

    def test_searches_ask_the_copy(self, store: Stores, postgres_url: str) -> None:
        """Through a session that cannot write; what changes something asks the original."""
        read_only = f"{postgres_url}?options=-c%20default_transaction_read_only%3Don"
        put(store, prepared("a", "ant"))
        stores = self.copied(postgres_url, f"{read_only}&application_name=copy")
        try:
            found = stores.searched.lexical.candidates([word("ant")], Scope(), every=True, limit=9)
            assert [one.id for one in found] == ["a"]
            put(stores.searched, prepared("b", "bee"))
            assert [one.id for one in stores.searched.documents.list(Scope())] == ["a", "b"]
            assert stores.maintenance.degraded() is None
            with database_of(store).reading() as session:
                asked = "SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = 'copy'"
                assert session.rows(asked) == [(True,)]
        finally:
            stores.maintenance.close()

    def test_the_original_answers_for_a_copy_that_is_down(
        self, store: Stores, postgres_url: str
    ) -> None:
        """It says so, and answers within the time of a search."""
        put(store, prepared("a", "ant"))
        stores = self.copied(postgres_url, "postgresql://nobody@127.0.0.1:9/none")
        started = time.monotonic()
        try:
            found = stores.searched.lexical.candidates([word("ant")], Scope(), every=True, limit=9)
            assert [one.id for one in found] == ["a"]
            assert "replica does not answer" in str(stores.searched.maintenance.degraded())
            settings = Settings(embedding={"embedder": "none"})
            with Library(stores, settings) as library:
                answer = library.search("ant")
            assert [one.id for one in answer.results] == ["a"]
            assert any("replica" in one.reason for one in answer.degraded)
            assert time.monotonic() - started < 5
        finally:
            stores.maintenance.close()


class TestTime:
    """A question ends when its time is over."""

    def test_a_statement_is_stopped_by_the_deadline(self, store: Stores) -> None:
        """The server breaks off what takes longer than the question may."""
        started = time.monotonic()
        with (
            pytest.raises(TooSlow, match="longer than"),
            deadlines.within(Deadline(0.2)),
            database_of(store).reading() as session,
        ):
            session.rows("SELECT pg_sleep(20)")
        assert time.monotonic() - started < 15
        put(store, prepared("a", "ant"))

    def test_nothing_is_asked_when_it_is_over(self, store: Stores) -> None:
        """What has no time left does not begin."""
        with deadlines.within(Deadline(0.0)), pytest.raises(TooSlow):
            store.documents.list(Scope())

    def test_what_everybody_needs_ends_in_any_case(self, store: Stores) -> None:
        """The time of the question does not count for it, and counts again afterwards."""

        def ask(session: Session) -> None:
            with session.unhurried():
                session.rows("SELECT pg_sleep(0.5)")
            ended.append(True)
            session.rows("SELECT pg_sleep(5)")

        ended: list[bool] = []
        with (
            pytest.raises(TooSlow),
            deadlines.within(Deadline(0.3)),
            database_of(store).reading() as session,
        ):
            ask(session)
        assert ended

    def test_a_server_that_was_started_again_is_asked_again(
        self, store: Stores, postgres: Server
    ) -> None:
        """Connections that it dropped are replaced, and nobody notices."""
        put(store, prepared("a", "ant"))
        for _ in range(2):
            postgres.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'twolane'"
            )
            assert [one.id for one in store.documents.list(Scope())] == ["a"]
            postgres.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'twolane'"
            )
            put(store, prepared("a", "ant again"))

    def test_an_address_that_cannot_be_read_is_not_shown(self) -> None:
        """What is wrong with it may be its password."""
        with pytest.raises(BadSetting) as caught:
            open_stores("postgresql://ann:se%zzcret@host/x")
        assert "se%zz" not in str(caught.value)
        assert caught.value.__cause__ is None

    def test_connections_are_bounded(self, postgres_url: str) -> None:
        """Whoever finds none free waits, and is then told that the store is busy."""
        database = Database(postgres_url, "here", create=False, busy_seconds=0.2)
        try:
            held = [database.reading() for _ in range(10)]
            for one in held:
                one.__enter__()
            with pytest.raises(StoreBusy, match="no connection left"), database.reading():
                pass
            for one in held:
                one.__exit__(None, None, None)
            with database.reading() as session:
                assert session.rows("SELECT 1") == [(1,)]
        finally:
            database.close()

    def test_closing_breaks_off_what_is_being_read(self, store: Stores) -> None:
        """A reader that has begun ends with an error, soon."""
        database = database_of(store)
        began = threading.Event()

        def read() -> None:
            with database.reading() as session:
                began.set()
                session.rows("SELECT pg_sleep(30)")

        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(read)
            assert began.wait(PATIENCE)
            time.sleep(0.2)
            started = time.monotonic()
            store.maintenance.close()
            with pytest.raises(StoreError):
                reading.result(20)
            assert time.monotonic() - started < 20
        with pytest.raises(StoreError, match="closed"):
            store.documents.list(Scope())


class TestTexts:
    """Whatever signs a text has, it is kept, found and never taken for a part of a statement."""

    def test_signs_that_postgresql_cannot_keep(self, store: Stores) -> None:
        """The sign zero and half a sign become the sign for what cannot be shown."""
        put(store, prepared("a", "ant\0bee \ud83d end", title="zero\0"))
        held = store.documents.get(["a"])["a"].document
        assert held.body == "ant\ufffdbee \ufffd end"
        assert store.documents.resolve(["no\0such"], Scope()) == []

    @pytest.mark.parametrize("text", ["100%", "a_b", "a\\b", "it'd", "%", "_x", "''", "$1", "%d"])
    def test_signs_that_mean_something_to_the_server(self, store: Stores, text: str) -> None:
        """They are letters in the exact lane and in quotations, and match nothing else."""
        put(store, prepared("a", f"before {text} after"), prepared("b", "axb 100 other"))
        if len(text) > 2:
            assert [one.id for one in store.lexical.substring(text, Scope(), limit=9)] == ["a"]
        quoted = Scope(clause=phrase(text, quoted=True))
        assert [one.id for one in store.documents.list(quoted)] == ["a"]

    @pytest.mark.parametrize("term", ["it's", "a\\b", "c++", "a:b", "!x", "&|", "<->", "x" * 5000])
    def test_any_stem_is_a_lexeme(self, store: Stores, term: str) -> None:
        """Stems are looked up as they are, whatever they mean in a query of PostgreSQL's."""
        from twolane.model.scope import Word

        held = prepared("a", "ant")
        odd = Prepared(held.document, held.chunks, Stems(body=f" {term}  ant "))
        put(store, odd, prepared("b", "ant"))
        for prefix in (False, True):
            asked = [Word(term, (term,), prefix)]
            found = store.lexical.candidates(asked, Scope(), every=True, limit=9)
            assert [one.id for one in found] == ["a"]
            told = store.lexical.document_frequencies(asked, Scope()).document_frequency
            assert list(told.values()) == [1]
        assert store.maintenance.check() == []

    def test_a_document_of_very_many_words_is_kept(self, store: Stores) -> None:
        """The server takes a megabyte of lexemes; what is beyond is not found, the rest is."""
        held = prepared("a", "ant")
        stems = "".join(f" word{n} " for n in range(150_000))
        put(store, Prepared(held.document, held.chunks, Stems(title=" first ", body=stems)))
        found = store.lexical.candidates([word("first")], Scope(), every=True, limit=9)
        assert [one.id for one in found] == ["a"]
        assert store.lexical.candidates([word("word7")], Scope(), every=True, limit=9)
        assert store.maintenance.check() == []


def test_lexemes_are_spelled_so_that_nothing_breaks_out() -> None:
    """Quotes and backslashes are doubled, and an owner's mark is no word."""
    assert lexemes.quoted("it's") == "'it''s'"
    assert lexemes.quoted("a\\") == "'a\\\\'"
    assert not lexemes.is_term(lexemes.owned("ann"))
    assert not lexemes.is_term(lexemes.owned(None))
    assert lexemes.is_term("ann")


def test_damage_is_found_and_mended(store: Stores, postgres: Server, tmp_path: Path) -> None:
    """What is derived is made again; what a person wrote stays."""
    one = prepared("a", "ant bee", owner="ann")
    put(store, one, prepared("b", "bee"))
    generation = store.vectors.open_generation(space()).number
    embed(store, generation, one, X)
    name = database_of(store)._pool.conninfo.rpartition("/")[2]
    for statement in (
        "DELETE FROM twolane.words WHERE owner = 'ann'",
        "UPDATE twolane.words SET words = 'other:1A' WHERE owner IS NULL",
        "UPDATE twolane.counters SET body = body + 5 WHERE stripe = 3",
        "UPDATE twolane.vectors SET content_hash = 'gone'",
    ):
        postgres.execute(statement, database=name)
    assert {problem.path for problem in store.maintenance.check()} >= {"a", "totals"}
    assert len(store.maintenance.repair()) == 3
    assert store.maintenance.check() == []
    assert store.maintenance.repair() == []
    found = store.lexical.candidates([word("bee")], Scope(), every=True, limit=9)
    assert {one.id for one in found} == {"a", "b"}
