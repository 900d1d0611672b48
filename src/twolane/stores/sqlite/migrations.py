"""How a file of an earlier version becomes one of this version."""

from __future__ import annotations

from collections.abc import Mapping

from twolane.stores.sqlite.seals import SEAL_ALL

# Makes the term vectors that are missing.
FILL_TERM_VECTORS = """
INSERT INTO term_vectors(document, terms)
SELECT row, term_vector(stems) FROM texts
WHERE row NOT IN (SELECT document FROM term_vectors) AND term_vector(stems) IS NOT NULL"""

# What a backup of an earlier version lacks, too.
TOKENS = """
CREATE TABLE IF NOT EXISTS tokens(
    row          INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    name         TEXT NOT NULL,
    owner        TEXT,
    capabilities TEXT NOT NULL,
    created      REAL NOT NULL,
    sha256       TEXT NOT NULL,
    expires      REAL,
    used         REAL,
    revoked      INTEGER NOT NULL DEFAULT 0
);
"""

# Statements that take a file from one schema version to the next; schema.sql is the newest.
MIGRATIONS: Mapping[int, str] = {
    1: """
CREATE TABLE receipts(
    owner TEXT NOT NULL,
    key   TEXT NOT NULL,
    asked TEXT NOT NULL,
    saved TEXT NOT NULL,
    at    REAL NOT NULL,
    PRIMARY KEY(owner, key)
) WITHOUT ROWID;
""",
    # Vectors belong to the passages whose content they were made of, and to no other.
    2: f"""
{TOKENS}
DROP INDEX vectors_by_text;
DROP INDEX chunks_by_text;
DROP INDEX chunks_by_lender;
ALTER TABLE chunks DROP COLUMN lender;
CREATE INDEX chunks_by_content ON chunks(content_hash);
DELETE FROM vectors WHERE content_hash NOT IN (SELECT content_hash FROM chunks);
ALTER TABLE vectors DROP COLUMN text_hash;
""",
    # What was written before there were seals is taken for what it is now; the letters of texts are
    # made anew, as they are seen, too.
    3: f"""
ALTER TABLE vectors ADD COLUMN at REAL;
INSERT OR IGNORE INTO unsettled SELECT row FROM texts WHERE listed;
CREATE TABLE seals(
    document INTEGER PRIMARY KEY REFERENCES documents(row),
    digest   BLOB NOT NULL
);
DROP TRIGGER documents_gone;
CREATE TRIGGER documents_gone AFTER DELETE ON documents BEGIN
    DELETE FROM texts WHERE row = old.row;
    DELETE FROM document_tags WHERE document = old.row;
    DELETE FROM property_values WHERE document = old.row;
    DELETE FROM chunks WHERE document = old.row;
    DELETE FROM sketches WHERE document = old.row;
    DELETE FROM seals WHERE document = old.row;
END;
{SEAL_ALL};
""",
    4: """
ALTER TABLE generations ADD COLUMN answered_by TEXT NOT NULL DEFAULT '';
""",
    5: f"""
CREATE TABLE term_vectors(
    document INTEGER PRIMARY KEY REFERENCES documents(row),
    terms    BLOB NOT NULL
);
CREATE TRIGGER term_vectors_old AFTER UPDATE OF stems ON texts WHEN new.stems IS NOT old.stems BEGIN
    DELETE FROM term_vectors WHERE document = old.row;
END;
CREATE TRIGGER term_vectors_gone AFTER DELETE ON texts BEGIN
    DELETE FROM term_vectors WHERE document = old.row;
END;
{FILL_TERM_VECTORS};
""",
}
