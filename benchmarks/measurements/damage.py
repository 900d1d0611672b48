"""What becomes of a damaged database: ten kinds of damage and more, at twenty places each.

A library of saved documents and of files is copied, one copy is harmed at one place, and
`twolane doctor`, a search, a backup, `twolane doctor --fix` and `twolane doctor` are run, each in a
process of its own; the place is drawn at random.
No command may end in a traceback or refuse in more than one line.
What `doctor` calls sound must answer a dozen searches and give every document as before the harm;
so must a backup that was made.
After `--fix` the file is sound or is refused, every file is as it was once its folder is indexed
again, every text of a saved document that the harmed file still held is there, and every document
that differs from what was saved was named by one of the commands.
A lost or cut log (`-wal`) is the one harm that leaves a whole file of an earlier moment; it must
then be whole, and nobody can say more.
"""

# ruff: noqa: ARG001 - every harm is given the same.

from __future__ import annotations

import random
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import apsw

import commands
from outcome import Goal, Outcome, Room, Table
from processes import environment
from twolane import Draft, Library, Settings, TwolaneError
from twolane.model.scope import ANYWHERE
from twolane.stores.sqlite.parts import parts

_QUERIES = ("water", "green leaves", "bread and salt", '"rye flour"', "tag:plants", "fern shade")
_MODES = ("lexical", "hybrid")
_WORDS = "water green leaves bread salt rye flour fern shade moss stone river apple honey".split()
_PAGE = 4096
_SAID_SOUND = " is sound"
_DOCUMENTS, _FILES = 40, 20

Harm = Callable[[Path, random.Random, int], str]
Told = dict[str, tuple[Any, ...]]


def measure(room: Room) -> Outcome:
    """Harm copy after copy, and look at what is said and what is left."""
    dice = random.Random(20_260_202)
    whole = _Whole.made(room.folder / "damage")
    rows = []
    for kind, harm in _KINDS.items():
        for number in range(room.size(20, 2)):
            case = _Case(whole, room.folder / "damage" / f"{kind}-{number}".replace(" ", "-"))
            rows.append({"kind": kind, **case.suffer(partial(harm, dice=dice, number=number))})
    wrong = Counter(harm for row in rows for harm in row["wrong"])
    outcomes = Counter((row["kind"], row["outcome"]) for row in rows)
    columns = ("harmless", "found and mended", "found and refused", "an earlier moment")
    return Outcome(
        goals=[
            Goal("Kinds of damage", len(_KINDS), "", at_least=10),
            Goal("Damaged files", len(rows), "", at_least=room.size(200, 20)),
            *(Goal(what, wrong[what], "", at_most=0) for what in _WRONG),
        ],
        tables=[
            Table(
                "What became of damaged files",
                ("damage", *columns),
                [(kind, *(outcomes[kind, column] for column in columns)) for kind in _KINDS],
            )
        ],
        rows=rows,
    )


_TRACEBACK = "Tracebacks"
_LINES = "Refusals of more than one line"
_SOUND = "Damaged files that were called sound"
_BACKUP = "Backups made of damaged documents"
_UNFIXED = "Files neither sound nor refused after `--fix`"
_LOST = "Texts lost that the file still held"
_UNNAMED = "Documents changed without being named"
_WRONG = (_TRACEBACK, _LINES, _SOUND, _BACKUP, _UNFIXED, _LOST, _UNNAMED)


def _told(db: Path) -> tuple[Told, list[Any]]:
    """Every document, and the answers to a dozen searches."""
    with Library.open(settings=_settings(db)) as library:
        ids = [one.id for one in library.search("", limit=200).results]
        documents = {}
        for id in sorted(ids):
            one = library.document(id, scope=ANYWHERE)
            said = (one.title, one.body, one.tags, one.aliases, str(one.properties), one.headings)
            documents[id] = said
        answers = [
            [result.id for result in library.search(text, mode=mode).results]
            for text in _QUERIES
            for mode in _MODES
        ]
        missing = library.status().progress.missing
    return documents, [answers, missing]


def _settings(db: Path) -> Settings:
    return Settings(db=db, embedding={"embedder": "hashing"})


@dataclass(frozen=True, slots=True)
class _Whole:
    """The library before any harm, its log as it was before the last save, and all that it says."""

    folder: Path
    documents: Told
    answers: list[Any]
    moments: list[Told]

    @classmethod
    def made(cls, folder: Path) -> _Whole:
        dice = random.Random(1)
        notes = folder / "notes"
        notes.mkdir(parents=True)
        text = partial(_text, dice)
        for number in range(_FILES):
            (notes / f"file{number}.md").write_text(
                f"---\naliases: [alias{number}]\ncolour: c{number % 3}\n---\n# File {number}\n\n"
                f"{text()}\n\n## More\n\n{text()}\n",
                "utf-8",
            )
        db = folder / "whole.db"
        with Library.open(settings=_settings(db)) as library:
            for number in range(_DOCUMENTS):
                draft = Draft(
                    f"saved{number}",
                    title=f"Saved {number}",
                    body=f"{text()} unique{number} {text()}\n\n## Part\n\n{text()}",
                    tags=("plants", f"t{number % 5}"),
                    properties={"colour": f"c{number % 4}"},
                )
                library.save(draft)
            library.index(notes)
            library.embed()
        # A copy with a log beside it: what was saved last is only there.
        earlier, answers = _told(db)
        late = [f"late{number}" for number in range(5)]
        with Library.open(settings=_settings(db)) as library:
            for id in late:
                library.save(Draft(id, title=id.title(), body=text()))
            library.embed()
            for ending in ("", "-wal"):
                shutil.copyfile(f"{db}{ending}", f"{folder / 'open.db'}{ending}")
        documents, answers = _told(db)
        moments = [
            earlier | {id: documents[id] for id in late[:count]} for count in range(len(late) + 1)
        ]
        return cls(folder, documents, answers, moments)


def _text(dice: random.Random) -> str:
    return " ".join(dice.choices(_WORDS, k=60)).capitalize() + "."


@dataclass(slots=True)
class _Case:
    """One copy, what was done to it, and what is wrong with what was said of it."""

    whole: _Whole
    folder: Path
    wrong: list[str] = field(default_factory=list)
    said: str = ""

    def suffer(self, harm: Callable[[Path], str]) -> dict[str, Any]:
        """Harm the copy, ask everything of it, mend it, and look again."""
        self.folder.mkdir()
        db = self.folder / "d.db"
        shutil.copyfile(self.whole.folder / "whole.db", db)
        place = harm(db)
        held = _bodies(db)
        found = self._run("doctor", db)
        found_said = found.said
        sound = _SAID_SOUND in found_said
        self._run("search", db, "water")
        backup = self._run("backup", db, self.folder / "backup.db")
        outcome = "found and mended"
        if sound:
            outcome = "harmless"
            now = self._now(db)
            lost_log = self.folder.name.startswith("lost-or-damaged-log")
            if lost_log and now is not None and now[0] in self.whole.moments:
                outcome = "an earlier moment" if now[1] != self.whole.answers else outcome
            elif now != (self.whole.documents, self.whole.answers):
                self.wrong.append(_SOUND)
        if backup.code == 0:
            now = self._now(self.folder / "backup.db")
            if now is None or (now[0] != self.whole.documents and outcome != "an earlier moment"):
                self.wrong.append(_BACKUP)
        if not sound:
            outcome = self._mended(db, held)
        shutil.rmtree(self.folder)
        # Where the copy lay is no part of the result.
        shown = found_said.replace(str(self.folder), "…")[:400]
        return {"place": place, "outcome": outcome, "wrong": self.wrong, "said": shown}

    def _mended(self, db: Path, held: set[str]) -> str:
        self._run("doctor", db, "--fix")
        again = self._run("doctor", db).said
        if _SAID_SOUND not in again:
            if "problem  database" not in again:
                self.wrong.append(_UNFIXED)
            return "found and refused"
        self._run("index", db, self.whole.folder / "notes", "--quiet")
        now = self._now(db)
        if now is None:
            self.wrong.append(_UNFIXED)
            return "found and mended"
        there = {said[1] for said in now[0].values()}
        if held - there:
            self.wrong.append(_LOST)
        changed = {
            id
            for id, said in self.whole.documents.items()
            if now[0].get(id) != said and not id.startswith("notes/")
        }
        if not all(self._is_named(id, now[0]) for id in changed):
            self.wrong.append(_UNNAMED)
        return "found and mended"

    def _is_named(self, id: str, now: Told) -> bool:
        """Whether a command told of a document that is not as it was saved.

        One that lost its id is told by the collection that it is in now, and one that lost the name
        of a tag by the tag that it has now.
        """
        if id in self.said:
            return True
        if id not in now:
            return "'recovered'" in self.said
        return any(tag.startswith("recovered-") and tag in self.said for tag in now[id][2])

    def _run(self, verb: str, db: Path, *more: str | Path) -> commands.Command:
        variables = environment(self.folder, TWOLANE_EMBEDDING_EMBEDDER="hashing")
        done = commands.run([verb, *more, "--db", db], variables, self.folder)
        complained = done.complained
        if "Traceback" in complained or done.code not in range(6):
            self.wrong.append(_TRACEBACK)
            print(verb, self.folder.name, complained[-2000:], file=sys.stderr)
        elif complained.count("error: ") > 1:
            self.wrong.append(_LINES)
        self.said += done.said + complained
        return done

    def _now(self, db: Path) -> tuple[Told, list[Any]] | None:
        try:
            return _told(db)
        except TwolaneError:
            return None


def _bodies(db: Path) -> set[str]:
    """The texts of saved documents that the file still holds, whatever else is gone."""
    found = set()
    with closing(apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        try:
            for (body,) in connection.execute("SELECT body FROM texts"):
                if isinstance(body, str) and "unique" in body:
                    found.add(body)
        except (apsw.Error, UnicodeDecodeError):
            # What cannot be read by SQLite is not held any more.
            return found
    return found


# --------------------------------------------------------------------------------------- harms


def _execute(db: Path, *statements: str) -> None:
    """Do to the file what no program of ours would: no trigger keeps anything in step."""
    with closing(apsw.Connection(str(db))) as connection:
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        for statement in statements:
            connection.execute(statement)


def _flipped_letter(db: Path, dice: random.Random, number: int) -> str:
    content = bytearray(db.read_bytes())
    word = f"unique{number}".encode()
    places = (
        [at for at in range(len(content)) if content.startswith(word, at)] if number < 3 else []
    )
    at = dice.choice(places) if places else content.find(word)
    content[at + 1] ^= 1
    db.write_bytes(content)
    return f"byte {at}"


def _flipped_bits(db: Path, dice: random.Random, number: int) -> str:
    content = bytearray(db.read_bytes())
    places = [dice.randrange(len(content)) for _ in range(1 + number % 4)]
    for at in places:
        content[at] ^= 1 << dice.randrange(8)
    db.write_bytes(content)
    return f"bytes {places}"


def _version(db: Path, dice: random.Random, number: int) -> str:
    version = [0, 1, 2, 3, 4, -1, -(2**31), 6, 99, 2**31 - 1][number % 10]
    more = "" if number < 10 else f"DROP TABLE {dice.choice(_TABLES)};"
    _execute(db, f"{more} PRAGMA user_version = {version}")
    return f"{version} {more}"


def _missing_table(db: Path, dice: random.Random, number: int) -> str:
    table = (_TABLES * 2)[number]
    _execute(db, f"DROP TABLE {table}")
    return table


def _bad_index(db: Path, dice: random.Random, number: int) -> str:
    """An index over another column than it holds, or one that lacks entries."""
    name = _INDEXES[number % len(_INDEXES)]
    table = parts().statements[name].split(" ON ")[1].split("(")[0]
    columns = [
        column for column in parts().columns[table] if column not in parts().statements[name]
    ]
    column = dice.choice(columns)
    _execute(
        db,
        "PRAGMA writable_schema = ON",
        f"UPDATE sqlite_schema SET sql = 'CREATE INDEX {name} ON {table}(\"{column}\")'"
        f" WHERE name = '{name}'",
        "PRAGMA writable_schema = RESET",
    )
    return f"{name} over {column}"


def _overwritten(db: Path, dice: random.Random, number: int) -> str:
    column = ["body", "body", "stems", "title", "words"][number % 5]
    value = ["'something else'", "''", "zeroblob(9)", "CAST(x'ff41' AS TEXT)"][number // 5]
    row = dice.randrange(1, _DOCUMENTS)
    _execute(db, f"UPDATE texts SET {column} = {value} WHERE row = {row}")
    return f"texts.{column} = {value} in row {row}"


def _truncated(db: Path, dice: random.Random, number: int) -> str:
    size = db.stat().st_size
    length = dice.choice([dice.randrange(size), dice.randrange(size // _PAGE) * _PAGE])
    with db.open("r+b") as file:
        file.truncate(length)
    return f"{length} of {size} bytes"


def _log(db: Path, dice: random.Random, number: int) -> str:
    """A file that was open, with no log beside it, a cut one, or one with a byte changed."""
    folder = db.parent.parent
    shutil.copyfile(folder / "open.db", db)
    if number < 4:
        return "no log"
    log = bytearray((folder / "open.db-wal").read_bytes())
    at = dice.randrange(len(log))
    if number % 2:
        log[at] ^= 1 << dice.randrange(8)
    else:
        del log[at:]
    Path(f"{db}-wal").write_bytes(log)
    return f"byte {at}"


def _swapped(db: Path, dice: random.Random, number: int) -> str:
    content = bytearray(db.read_bytes())
    one, other = dice.sample(range(1, len(content) // _PAGE), 2)
    here, there = slice(one * _PAGE, (one + 1) * _PAGE), slice(other * _PAGE, (other + 1) * _PAGE)
    content[here], content[there] = content[there], content[here]
    db.write_bytes(content)
    return f"pages {one} and {other}"


def _zeroed(db: Path, dice: random.Random, number: int) -> str:
    content = bytearray(db.read_bytes())
    page = dice.randrange(1, len(content) // _PAGE if number % 2 else 40)
    filling = b"\0" if number % 3 else b"\xff"
    content[page * _PAGE : (page + 1) * _PAGE] = filling * _PAGE
    db.write_bytes(content)
    return f"page {page}"


def _deleted(db: Path, dice: random.Random, number: int) -> str:
    table = _WITH_ROWS[number % len(_WITH_ROWS)]
    key = "rowid" if "WITHOUT ROWID" not in parts().statements[table] else None
    with closing(apsw.Connection(str(db))) as connection:
        if key is None:
            columns = parts().columns[table]
            key = next(iter(columns))
        values = [value for (value,) in connection.execute(f"SELECT {key} FROM {table}")]
    _execute(db, f"DELETE FROM {table} WHERE {key} = {dice.choice(values)!r}")
    return f"a row of {table}"


_TABLES = [name for name, kind in parts().kinds.items() if kind in ("table", "virtual")]
_INDEXES = [name for name, kind in parts().kinds.items() if kind == "index"]
_WITH_ROWS = (
    "documents",
    "texts",
    "collections",
    "chunks",
    "document_tags",
    "tags",
    "property_values",
    "seals",
    "generations",
    "totals",
    "counters",
    "words_docsize" if "words_docsize" in parts().columns else "sketches",
)
_KINDS: dict[str, Harm] = {
    "flipped letter of a text": _flipped_letter,
    "flipped bits anywhere": _flipped_bits,
    "wrong version": _version,
    "missing table": _missing_table,
    "wrong index": _bad_index,
    "overwritten value": _overwritten,
    "cut file": _truncated,
    "lost or damaged log": _log,
    "swapped pages": _swapped,
    "pages of nothing": _zeroed,
    "deleted row": _deleted,
}
