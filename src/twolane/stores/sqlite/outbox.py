"""The triggers that record every change for another engine, in SQLite."""

from __future__ import annotations

from twolane.stores.sql.outbox import Engine
from twolane.stores.sqlite.lexical import STREAMS_OF

_RECORD = "INSERT INTO outbox(id)"
_HOLDERS = """
    SELECT DISTINCT d.id FROM chunks AS c JOIN documents AS d ON d.row = c.document
    WHERE c.content_hash = {row}.content_hash"""

# Name → what fires it, and what it does. An entry without an id says that generations changed.
_TRIGGERS = {
    "outbox_added": ("INSERT ON documents", f"{_RECORD} VALUES (new.id)"),
    "outbox_changed": (
        "UPDATE ON documents",
        f"{_RECORD} SELECT old.id WHERE old.id <> new.id; {_RECORD} VALUES (new.id)",
    ),
    "outbox_deleted": ("DELETE ON documents", f"{_RECORD} VALUES (old.id)"),
    "outbox_renamed": (
        "UPDATE OF name ON collections",
        f"{_RECORD} SELECT id FROM documents WHERE collection = new.row",
    ),
    "outbox_embedded": ("INSERT ON vectors", _RECORD + _HOLDERS.format(row="new")),
    "outbox_embedded_again": ("UPDATE ON vectors", _RECORD + _HOLDERS.format(row="new")),
    # The vectors of a generation that is dropped go with its collection.
    "outbox_unembedded": (
        "DELETE ON vectors WHEN EXISTS (SELECT 1 FROM generations WHERE number = old.generation)",
        _RECORD + _HOLDERS.format(row="old"),
    ),
    "outbox_opened": ("INSERT ON generations", f"{_RECORD} VALUES ('')"),
    "outbox_dropped": ("DELETE ON generations", f"{_RECORD} VALUES ('')"),
}

ENGINE = Engine(
    make=(
        "CREATE TABLE outbox(seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL,"
        " at REAL NOT NULL DEFAULT (unixepoch('subsec')))",
        "CREATE TABLE outbox_turns(number INTEGER NOT NULL, worker TEXT NOT NULL,"
        " until REAL NOT NULL, identity TEXT NOT NULL)",
        "INSERT INTO outbox_turns VALUES (0, '', 0, lower(hex(randomblob(16))))",
        *(
            f"CREATE TRIGGER {name} AFTER {event} BEGIN {action}; END"
            for name, (event, action) in _TRIGGERS.items()
        ),
    ),
    unmake=(
        *(f"DROP TRIGGER {name}" for name in _TRIGGERS),
        "DROP TABLE outbox",
        "DROP TABLE outbox_turns",
    ),
    there="SELECT 1 FROM sqlite_schema WHERE name = 'outbox_turns'",
    streams=STREAMS_OF,
    languages=str.split,
)
