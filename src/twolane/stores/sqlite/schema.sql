-- Schema 6. One file holds documents, their words, their vectors and the work that is left.
--
-- What REFERENCES says is looked at by `doctor`, not at every row that is written: that takes as
-- long as an index. Triggers take along what belongs to a row that goes.

-- What changed since a reader last looked: every writing transaction takes the next revision.
CREATE TABLE counters(
    revision INTEGER NOT NULL
);
INSERT INTO counters VALUES (0);

CREATE TABLE collections(
    row         INTEGER PRIMARY KEY,
    name        TEXT NOT NULL UNIQUE,
    root        TEXT,
    kind        TEXT NOT NULL,
    include     TEXT NOT NULL DEFAULT '[]',
    exclude     TEXT NOT NULL DEFAULT '[]',
    description TEXT NOT NULL DEFAULT ''
);

-- What filters and lists need; the long texts live apart so that scans stay small.
CREATE TABLE documents(
    row          INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    collection   INTEGER NOT NULL REFERENCES collections(row),
    revision     INTEGER NOT NULL,
    kind         TEXT NOT NULL,
    searchable   INTEGER NOT NULL,
    archived     INTEGER NOT NULL,
    deleted      INTEGER NOT NULL,
    encrypted    INTEGER NOT NULL,
    listed       INTEGER GENERATED ALWAYS AS (searchable AND NOT deleted AND NOT encrypted) VIRTUAL,
    owner        TEXT,
    path         TEXT,
    url          TEXT,
    created      REAL,
    updated      REAL,
    used         REAL,
    uses         INTEGER NOT NULL,
    languages    TEXT NOT NULL,
    title        TEXT NOT NULL,
    title_key    TEXT NOT NULL,
    title_origin TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    version      INTEGER NOT NULL,
    first_line   INTEGER NOT NULL,
    modified_ns  INTEGER,
    size         INTEGER,
    aliases      TEXT NOT NULL,
    description  TEXT NOT NULL,
    summary      TEXT NOT NULL,
    headings     TEXT NOT NULL,
    links        TEXT NOT NULL,
    arguments    TEXT NOT NULL,
    properties   TEXT NOT NULL,
    recipe       TEXT NOT NULL
);
CREATE INDEX documents_by_path ON documents(path);
CREATE INDEX documents_by_url ON documents(url) WHERE url IS NOT NULL;
CREATE INDEX documents_by_title ON documents(title_key);
CREATE INDEX documents_by_revision ON documents(revision);
CREATE INDEX documents_by_update ON documents(updated);
CREATE INDEX documents_by_creation ON documents(created);
CREATE INDEX documents_by_use ON documents(used) WHERE used IS NOT NULL;
CREATE INDEX documents_by_kind ON documents(kind);
CREATE INDEX documents_by_languages ON documents(languages);
CREATE INDEX documents_archived ON documents(row) WHERE archived;

-- Documents that are gone, so that a reader can drop them without a full reload.
CREATE TABLE tombstones(
    document INTEGER NOT NULL,
    revision INTEGER NOT NULL
);
CREATE INDEX tombstones_by_revision ON tombstones(revision);

-- The ledger: files that gave no document, or gave one with a remark.
CREATE TABLE ledger(
    collection  INTEGER NOT NULL REFERENCES collections(row),
    path        TEXT NOT NULL,
    state       TEXT NOT NULL,
    code        TEXT,
    reason      TEXT NOT NULL,
    modified_ns INTEGER,
    size        INTEGER,
    PRIMARY KEY (collection, path)
) WITHOUT ROWID;

CREATE TABLE tags(
    row   INTEGER PRIMARY KEY,
    name  TEXT NOT NULL UNIQUE,
    key   TEXT NOT NULL,
    stems TEXT NOT NULL
);
CREATE INDEX tags_by_key ON tags(key);

CREATE TABLE document_tags(
    document INTEGER NOT NULL REFERENCES documents(row),
    position INTEGER NOT NULL,
    tag      INTEGER NOT NULL REFERENCES tags(row),
    PRIMARY KEY (document, tag)
) WITHOUT ROWID;
CREATE INDEX document_tags_by_tag ON document_tags(tag);

-- The values of front matter that can be compared; the whole of it is in documents.properties.
CREATE TABLE property_values(
    document INTEGER NOT NULL REFERENCES documents(row),
    name     TEXT NOT NULL,
    text     TEXT NOT NULL,
    number   REAL,
    moment   REAL,
    PRIMARY KEY (document, name, text)
) WITHOUT ROWID;
CREATE INDEX property_values_by_name ON property_values(name, text);

-- What is encrypted keeps nothing that can be compared.
CREATE TRIGGER documents_encrypted AFTER UPDATE OF encrypted ON documents WHEN new.encrypted BEGIN
    DELETE FROM property_values WHERE document = new.row;
END;

-- Stem streams of a document and its body; `listed` says whether the full-text index holds it.
CREATE TABLE texts(
    row         INTEGER PRIMARY KEY REFERENCES documents(row),
    listed      INTEGER NOT NULL,
    words       INTEGER NOT NULL,
    title       TEXT NOT NULL,
    aliases     TEXT NOT NULL,
    tags        TEXT NOT NULL,
    headings    TEXT NOT NULL,
    description TEXT NOT NULL,
    url         TEXT NOT NULL,
    stems       TEXT NOT NULL,
    body        TEXT NOT NULL
);

-- Where each term stands in the body of a document (twolane/stores/term_vectors.py), made from its
-- stream of stems; a document without a row is counted in the stream itself.
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

-- Streams are split at spaces only: every other ASCII sign that a stem can hold is listed.
CREATE VIRTUAL TABLE words USING fts5(
    title, aliases, tags, headings, description, url, body,
    content='', contentless_delete=1, tokenize="ascii tokenchars '+#'"
);
-- Every batch adds a segment. Twice as many as usual may wait before they are put together:
-- writing takes less time, asking takes no more, and settling puts together what is left.
INSERT INTO words(words, rank) VALUES ('automerge', 8);
-- A segment is written anew once a quarter of its rows are gone, not at a tenth: replacing
-- documents took most of its time for that.
INSERT INTO words(words, rank) VALUES ('deletemerge', 25);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, 'row');

-- Letters, three by three: of names (with a space for every sign) and of texts.
-- They only say where to look; what they offer is compared with the stored text.
CREATE VIRTUAL TABLE name_trigrams USING fts5(
    names, content='', contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1'
);
CREATE VIRTUAL TABLE text_trigrams USING fts5(
    texts, content='', contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1'
);

-- Documents whose trigrams are missing, old or too many; a search looks through these as they are.
CREATE TABLE unsettled(
    document INTEGER PRIMARY KEY
);

-- Whether the trigrams of texts are kept.
CREATE TABLE trigrams(
    texts INTEGER NOT NULL
);
INSERT INTO trigrams VALUES (1);

-- Field lengths over all listed documents, for average lengths.
CREATE TABLE totals(
    documents   INTEGER NOT NULL,
    title       INTEGER NOT NULL,
    aliases     INTEGER NOT NULL,
    tags        INTEGER NOT NULL,
    headings    INTEGER NOT NULL,
    description INTEGER NOT NULL,
    url         INTEGER NOT NULL,
    body        INTEGER NOT NULL
);
INSERT INTO totals VALUES (0, 0, 0, 0, 0, 0, 0, 0);

-- The number of stems in a stream is half its number of spaces.
CREATE VIEW lengths AS
SELECT row,
       (octet_length(title) - octet_length(replace(title, ' ', ''))) / 2 AS title,
       (octet_length(aliases) - octet_length(replace(aliases, ' ', ''))) / 2 AS aliases,
       (octet_length(tags) - octet_length(replace(tags, ' ', ''))) / 2 AS tags,
       (octet_length(headings) - octet_length(replace(headings, ' ', ''))) / 2 AS headings,
       (octet_length(description) - octet_length(replace(description, ' ', ''))) / 2 AS description,
       (octet_length(url) - octet_length(replace(url, ' ', ''))) / 2 AS url,
       words AS body
FROM texts;

CREATE TRIGGER texts_inserted AFTER INSERT ON texts WHEN new.listed BEGIN
    INSERT INTO words(rowid, title, aliases, tags, headings, description, url, body)
    VALUES (new.row, new.title, new.aliases, new.tags, new.headings, new.description, new.url,
            new.stems);
    UPDATE totals SET
        documents = documents + 1,
        title = title + iif(new.title = '', 0, (octet_length(new.title) - octet_length(replace(new.title, ' ', ''))) / 2),
        aliases = aliases + iif(new.aliases = '', 0, (octet_length(new.aliases) - octet_length(replace(new.aliases, ' ', ''))) / 2),
        tags = tags + iif(new.tags = '', 0, (octet_length(new.tags) - octet_length(replace(new.tags, ' ', ''))) / 2),
        headings = headings + iif(new.headings = '', 0, (octet_length(new.headings) - octet_length(replace(new.headings, ' ', ''))) / 2),
        description = description + iif(new.description = '', 0, (octet_length(new.description) - octet_length(replace(new.description, ' ', ''))) / 2),
        url = url + iif(new.url = '', 0, (octet_length(new.url) - octet_length(replace(new.url, ' ', ''))) / 2),
        body = body + new.words;
END;

CREATE TRIGGER texts_deleted BEFORE DELETE ON texts WHEN old.listed BEGIN
    UPDATE totals SET
        documents = documents - 1,
        title = title - iif(old.title = '', 0, (octet_length(old.title) - octet_length(replace(old.title, ' ', ''))) / 2),
        aliases = aliases - iif(old.aliases = '', 0, (octet_length(old.aliases) - octet_length(replace(old.aliases, ' ', ''))) / 2),
        tags = tags - iif(old.tags = '', 0, (octet_length(old.tags) - octet_length(replace(old.tags, ' ', ''))) / 2),
        headings = headings - iif(old.headings = '', 0, (octet_length(old.headings) - octet_length(replace(old.headings, ' ', ''))) / 2),
        description = description - iif(old.description = '', 0, (octet_length(old.description) - octet_length(replace(old.description, ' ', ''))) / 2),
        url = url - iif(old.url = '', 0, (octet_length(old.url) - octet_length(replace(old.url, ' ', ''))) / 2),
        body = body - old.words;
    DELETE FROM words WHERE rowid = old.row;
END;

-- A row of the index is replaced whole: FTS5 cannot update part of a contentless row.
CREATE TRIGGER texts_leaving BEFORE UPDATE ON texts WHEN old.listed BEGIN
    UPDATE totals SET
        documents = documents - 1,
        title = title - iif(old.title = '', 0, (octet_length(old.title) - octet_length(replace(old.title, ' ', ''))) / 2),
        aliases = aliases - iif(old.aliases = '', 0, (octet_length(old.aliases) - octet_length(replace(old.aliases, ' ', ''))) / 2),
        tags = tags - iif(old.tags = '', 0, (octet_length(old.tags) - octet_length(replace(old.tags, ' ', ''))) / 2),
        headings = headings - iif(old.headings = '', 0, (octet_length(old.headings) - octet_length(replace(old.headings, ' ', ''))) / 2),
        description = description - iif(old.description = '', 0, (octet_length(old.description) - octet_length(replace(old.description, ' ', ''))) / 2),
        url = url - iif(old.url = '', 0, (octet_length(old.url) - octet_length(replace(old.url, ' ', ''))) / 2),
        body = body - old.words;
    DELETE FROM words WHERE rowid = old.row;
END;

CREATE TRIGGER texts_returning AFTER UPDATE ON texts WHEN new.listed BEGIN
    INSERT INTO words(rowid, title, aliases, tags, headings, description, url, body)
    VALUES (new.row, new.title, new.aliases, new.tags, new.headings, new.description, new.url,
            new.stems);
    UPDATE totals SET
        documents = documents + 1,
        title = title + iif(new.title = '', 0, (octet_length(new.title) - octet_length(replace(new.title, ' ', ''))) / 2),
        aliases = aliases + iif(new.aliases = '', 0, (octet_length(new.aliases) - octet_length(replace(new.aliases, ' ', ''))) / 2),
        tags = tags + iif(new.tags = '', 0, (octet_length(new.tags) - octet_length(replace(new.tags, ' ', ''))) / 2),
        headings = headings + iif(new.headings = '', 0, (octet_length(new.headings) - octet_length(replace(new.headings, ' ', ''))) / 2),
        description = description + iif(new.description = '', 0, (octet_length(new.description) - octet_length(replace(new.description, ' ', ''))) / 2),
        url = url + iif(new.url = '', 0, (octet_length(new.url) - octet_length(replace(new.url, ' ', ''))) / 2),
        body = body + new.words;
END;

-- Trigrams follow later, many at a time; until then the document is known to be unsettled.
CREATE TRIGGER letters_added AFTER INSERT ON texts BEGIN
    INSERT INTO unsettled VALUES (new.row) ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER letters_changed AFTER UPDATE ON texts BEGIN
    INSERT INTO unsettled VALUES (new.row) ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER letters_gone AFTER DELETE ON texts BEGIN
    INSERT INTO unsettled VALUES (old.row) ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER letters_renamed
AFTER UPDATE OF title, aliases, path, url, description, summary, headings, arguments ON documents
BEGIN
    INSERT INTO unsettled VALUES (new.row) ON CONFLICT DO NOTHING;
END;

-- What must not be found leaves no letters behind.
CREATE TRIGGER letters_hidden AFTER UPDATE OF searchable, deleted, encrypted ON documents
WHEN NOT (new.searchable AND NOT new.deleted AND NOT new.encrypted) BEGIN
    DELETE FROM name_trigrams WHERE rowid = new.row;
    DELETE FROM text_trigrams WHERE rowid = new.row;
END;

-- Soft delete, restore, exclusion, encryption: the index follows the document.
CREATE TRIGGER documents_listed AFTER UPDATE OF searchable, deleted, encrypted ON documents
WHEN (old.searchable AND NOT old.deleted AND NOT old.encrypted)
     IS NOT (new.searchable AND NOT new.deleted AND NOT new.encrypted) BEGIN
    UPDATE texts SET listed = (new.searchable AND NOT new.deleted AND NOT new.encrypted)
    WHERE row = new.row;
END;

-- What the searchable tags of a document should be.
CREATE VIEW tag_streams AS
SELECT row, coalesce(
    (SELECT group_concat(stems, '') FROM
        (SELECT t.stems FROM document_tags AS dt JOIN tags AS t ON t.row = dt.tag
         WHERE dt.document = documents.row ORDER BY dt.position)), '') AS stems
FROM documents;

CREATE TRIGGER tag_added AFTER INSERT ON document_tags BEGIN
    UPDATE texts SET tags = coalesce(
        (SELECT group_concat(stems, '') FROM
            (SELECT t.stems FROM document_tags AS dt JOIN tags AS t ON t.row = dt.tag
             WHERE dt.document = new.document ORDER BY dt.position)), '')
    WHERE row = new.document;
END;

CREATE TRIGGER tag_removed AFTER DELETE ON document_tags BEGIN
    UPDATE texts SET tags = coalesce(
        (SELECT group_concat(stems, '') FROM
            (SELECT t.stems FROM document_tags AS dt JOIN tags AS t ON t.row = dt.tag
             WHERE dt.document = old.document ORDER BY dt.position)), '')
    WHERE row = old.document;
END;

CREATE TRIGGER tag_renamed AFTER UPDATE OF name, stems ON tags BEGIN
    UPDATE texts SET tags = coalesce(
        (SELECT group_concat(stems, '') FROM
            (SELECT t.stems FROM document_tags AS dt JOIN tags AS t ON t.row = dt.tag
             WHERE dt.document = texts.row ORDER BY dt.position)), '')
    WHERE row IN (SELECT document FROM document_tags WHERE tag = new.row);
END;

CREATE TABLE chunks(
    document     INTEGER NOT NULL REFERENCES documents(row),
    position     INTEGER NOT NULL,
    start        INTEGER NOT NULL,
    "end"        INTEGER NOT NULL,
    first_line   INTEGER NOT NULL,
    last_line    INTEGER NOT NULL,
    headings     TEXT NOT NULL,
    language     TEXT,
    tokens       INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    text_hash    TEXT NOT NULL,
    forms        BLOB,
    PRIMARY KEY (document, position)
) WITHOUT ROWID;

-- A document takes along all that is kept of it.
CREATE TRIGGER documents_gone AFTER DELETE ON documents BEGIN
    DELETE FROM texts WHERE row = old.row;
    DELETE FROM document_tags WHERE document = old.row;
    DELETE FROM property_values WHERE document = old.row;
    DELETE FROM chunks WHERE document = old.row;
    DELETE FROM sketches WHERE document = old.row;
    DELETE FROM seals WHERE document = old.row;
END;

-- The keys of lines that many documents hold, and how many documents there were to tell.
CREATE TABLE forms(
    key INTEGER PRIMARY KEY
);
CREATE TABLE learned(
    documents INTEGER NOT NULL,
    times     INTEGER NOT NULL
);
INSERT INTO learned VALUES (0, 0);

-- What tells copies of a document: the smallest hashes of its runs of words.
CREATE TABLE sketches(
    document INTEGER PRIMARY KEY REFERENCES documents(row),
    runs     BLOB NOT NULL
);

-- A digest of what was written of each document, by which damage is told from change.
CREATE TABLE seals(
    document INTEGER PRIMARY KEY REFERENCES documents(row),
    digest   BLOB NOT NULL
);

CREATE INDEX chunks_by_content ON chunks(content_hash);

-- `answered_by` is what a server called the model that made the vectors.
CREATE TABLE generations(
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    fingerprint TEXT NOT NULL,
    space       TEXT NOT NULL,
    state       TEXT NOT NULL,
    rate        REAL,
    reason      TEXT,
    answered_by TEXT NOT NULL DEFAULT ''
);

-- The mean vector of each language, by which a generation's vectors were centred, and how many
-- passages the language had then.
CREATE TABLE means(
    generation INTEGER NOT NULL REFERENCES generations(number),
    language   TEXT NOT NULL,
    mean       BLOB NOT NULL,
    passages   INTEGER NOT NULL,
    PRIMARY KEY (generation, language)
) WITHOUT ROWID;

-- Unit vectors, little-endian float32; the generation names their space, `at` is when they were
-- embedded, unknown for those that are older than the column.
CREATE TABLE vectors(
    row          INTEGER PRIMARY KEY AUTOINCREMENT,
    generation   INTEGER NOT NULL REFERENCES generations(number),
    content_hash TEXT NOT NULL,
    vector       BLOB NOT NULL,
    at           REAL,
    UNIQUE (generation, content_hash)
);

-- The vectors of each passage's sentences, four bits a number.
-- They have a table of their own, so that the scan of passages reads no byte of them.
CREATE TABLE sentences(
    row          INTEGER PRIMARY KEY,
    generation   INTEGER NOT NULL REFERENCES generations(number),
    content_hash TEXT NOT NULL,
    codes        BLOB NOT NULL,
    UNIQUE (generation, content_hash)
);

-- Sentences go with their passage; a vector that is replaced leaves them alone.
CREATE TRIGGER sentences_go AFTER DELETE ON vectors BEGIN
    DELETE FROM sentences WHERE generation = old.generation AND content_hash = old.content_hash;
END;

-- Passages that somebody is embedding now, or that failed.
CREATE TABLE jobs(
    generation   INTEGER NOT NULL REFERENCES generations(number),
    content_hash TEXT NOT NULL,
    worker       TEXT,
    leased_until REAL,
    tries        INTEGER NOT NULL DEFAULT 0,
    retry_at     REAL,
    reason       TEXT,
    PRIMARY KEY (generation, content_hash)
) WITHOUT ROWID;

-- A generation takes along its vectors, and with them their sentences.
CREATE TRIGGER generations_gone AFTER DELETE ON generations BEGIN
    DELETE FROM means WHERE generation = old.number;
    DELETE FROM vectors WHERE generation = old.number;
    DELETE FROM sentences WHERE generation = old.number;
    DELETE FROM jobs WHERE generation = old.number;
END;

-- What became of a request that had a key of its own, so that it is answered again and not done
-- again. The owner is empty for whoever may change everybody's documents.
CREATE TABLE receipts(
    owner TEXT NOT NULL,
    key   TEXT NOT NULL,
    asked TEXT NOT NULL,
    saved TEXT NOT NULL,
    at    REAL NOT NULL,
    PRIMARY KEY(owner, key)
) WITHOUT ROWID;

-- Who may ask a server, and for what; of the secret only a hash. A token that is revoked keeps its
-- row, by which the server knows that it has to ask for one.
CREATE TABLE tokens(
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
