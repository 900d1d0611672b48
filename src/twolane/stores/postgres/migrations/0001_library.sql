-- Documents, their words, letters and vectors, and the work that is left.
--
-- Texts are compared sign by sign (COLLATE "C"), as they are everywhere else in Twolane.
-- Every row that tells of a document has the document's owner.

-- What changed since a reader last looked, and how long the fields of all documents are together.
-- A writer adds to one of many rows, whichever is free, so that writers do not wait for each other;
-- a reader adds them up.
CREATE TABLE counters(
    stripe      integer PRIMARY KEY,
    revision    bigint NOT NULL DEFAULT 0,
    documents   bigint NOT NULL DEFAULT 0,
    title       bigint NOT NULL DEFAULT 0,
    aliases     bigint NOT NULL DEFAULT 0,
    tags        bigint NOT NULL DEFAULT 0,
    headings    bigint NOT NULL DEFAULT 0,
    description bigint NOT NULL DEFAULT 0,
    url         bigint NOT NULL DEFAULT 0,
    body        bigint NOT NULL DEFAULT 0
);
INSERT INTO counters(stripe) SELECT generate_series(1, 64);

-- A number for each change of a document.
CREATE SEQUENCE revisions;

CREATE TABLE collections(
    row         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text COLLATE "C" NOT NULL UNIQUE,
    root        text,
    kind        text NOT NULL,
    include     text[] NOT NULL DEFAULT '{}',
    exclude     text[] NOT NULL DEFAULT '{}',
    description text NOT NULL DEFAULT ''
);

-- What filters and lists need; the long texts live apart so that scans stay small.
CREATE TABLE documents(
    row          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id           text COLLATE "C" NOT NULL UNIQUE,
    collection   bigint NOT NULL REFERENCES collections(row),
    owner        text COLLATE "C",
    revision     bigint NOT NULL,
    kind         text NOT NULL,
    searchable   boolean NOT NULL,
    archived     boolean NOT NULL,
    deleted      boolean NOT NULL,
    encrypted    boolean NOT NULL,
    listed       boolean GENERATED ALWAYS AS (searchable AND NOT deleted AND NOT encrypted) STORED,
    path         text COLLATE "C",
    url          text COLLATE "C",
    created      double precision,
    updated      double precision,
    used         double precision,
    uses         integer NOT NULL,
    languages    text[] NOT NULL,
    title        text COLLATE "C" NOT NULL,
    title_key    text COLLATE "C" NOT NULL,
    title_origin text NOT NULL,
    content_hash text NOT NULL,
    version      integer NOT NULL,
    first_line   integer NOT NULL,
    modified_ns  bigint,
    size         bigint,
    aliases      text[] NOT NULL,
    description  text NOT NULL,
    summary      text NOT NULL,
    headings     text NOT NULL,
    links        text NOT NULL,
    arguments    text[] NOT NULL,
    properties   text NOT NULL,
    recipe       text NOT NULL
);
CREATE INDEX documents_by_owner ON documents(owner, revision);
CREATE INDEX documents_by_collection ON documents(collection);
CREATE INDEX documents_by_path ON documents USING hash (path);
CREATE INDEX documents_by_url ON documents USING hash (url);
CREATE INDEX documents_by_title ON documents USING hash (title_key);
CREATE INDEX documents_by_update ON documents(updated);

-- The ledger: files that gave no document, or gave one with a remark.
CREATE TABLE ledger(
    collection  bigint NOT NULL REFERENCES collections(row) ON DELETE CASCADE,
    path        text COLLATE "C" NOT NULL,
    state       text NOT NULL,
    code        text,
    reason      text NOT NULL,
    modified_ns bigint,
    size        bigint,
    PRIMARY KEY (collection, path)
);

CREATE TABLE tags(
    document bigint NOT NULL REFERENCES documents(row) ON DELETE CASCADE,
    position integer NOT NULL,
    owner    text COLLATE "C",
    name     text COLLATE "C" NOT NULL,
    key      text COLLATE "C" NOT NULL,
    PRIMARY KEY (document, position)
);
CREATE INDEX tags_by_key ON tags(key, document);

-- The values of front matter that can be compared; the whole of it is in documents.properties.
CREATE TABLE property_values(
    document bigint NOT NULL REFERENCES documents(row) ON DELETE CASCADE,
    owner    text COLLATE "C",
    name     text COLLATE "C" NOT NULL,
    text     text COLLATE "C" NOT NULL,
    number   double precision,
    moment   double precision
);
CREATE INDEX property_values_by_document ON property_values(document);
CREATE INDEX property_values_by_name ON property_values USING hash (name);

-- Stem streams of a document and its body, as every store keeps them: scores are counted in them.
CREATE TABLE texts(
    row         bigint PRIMARY KEY REFERENCES documents(row) ON DELETE CASCADE,
    owner       text COLLATE "C",
    lengths     integer[] NOT NULL,
    title       text COLLATE "C" NOT NULL,
    aliases     text COLLATE "C" NOT NULL,
    tags        text COLLATE "C" NOT NULL,
    headings    text COLLATE "C" NOT NULL,
    description text COLLATE "C" NOT NULL,
    url         text COLLATE "C" NOT NULL,
    stems       text COLLATE "C" NOT NULL,
    body        text COLLATE "C" NOT NULL
);

-- Our own stems for the index of words: A title, B what is said of a document, C its body, D its
-- address. Only documents that can be found have a row. One more lexeme names the owner.
CREATE TABLE words(
    document bigint PRIMARY KEY REFERENCES documents(row) ON DELETE CASCADE,
    owner    text COLLATE "C",
    words    tsvector NOT NULL
);
CREATE INDEX words_by_word ON words USING gin (words);
CREATE INDEX words_by_owner ON words(owner);

-- Letters as they are compared, of names and of texts; only of documents that can be found.
CREATE TABLE letters(
    document bigint PRIMARY KEY REFERENCES documents(row) ON DELETE CASCADE,
    owner    text COLLATE "C",
    names    text COLLATE "C" NOT NULL,
    texts    text COLLATE "C" NOT NULL
);
CREATE INDEX letters_by_owner ON letters(owner);

-- What tells copies of a document: the smallest hashes of its runs of words.
CREATE TABLE sketches(
    document bigint PRIMARY KEY REFERENCES documents(row) ON DELETE CASCADE,
    owner    text COLLATE "C",
    runs     bytea NOT NULL
);

CREATE TABLE chunks(
    document     bigint NOT NULL REFERENCES documents(row) ON DELETE CASCADE,
    position     integer NOT NULL,
    owner        text COLLATE "C",
    start        integer NOT NULL,
    "end"        integer NOT NULL,
    first_line   integer NOT NULL,
    last_line    integer NOT NULL,
    headings     text[] NOT NULL,
    language     text COLLATE "C",
    tokens       integer NOT NULL,
    content_hash text COLLATE "C" NOT NULL,
    text_hash    text COLLATE "C" NOT NULL,
    forms        bigint[] NOT NULL,
    PRIMARY KEY (document, position)
);
CREATE INDEX chunks_by_content ON chunks(content_hash);

-- The keys of lines that many documents hold, and how many documents there were to tell.
CREATE TABLE forms(
    key bigint PRIMARY KEY
);
CREATE TABLE learned(
    documents integer NOT NULL,
    times     bigint NOT NULL
);
INSERT INTO learned VALUES (0, 0);

-- A number is never used twice; `revision` is another one whenever a vector is added.
CREATE TABLE generations(
    number      integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    fingerprint text NOT NULL,
    space       text NOT NULL,
    state       text NOT NULL,
    rate        double precision,
    reason      text,
    revision    bigint NOT NULL DEFAULT 0
);

-- The mean vector of each language, by which a generation's vectors were centred, and how many
-- passages the language had then.
CREATE TABLE means(
    generation integer NOT NULL REFERENCES generations(number) ON DELETE CASCADE,
    language   text COLLATE "C" NOT NULL,
    mean       bytea NOT NULL,
    passages   integer NOT NULL,
    PRIMARY KEY (generation, language)
);

-- The vector of each passage, with the codes of its sentences' vectors.
-- A passage whose document is replaced or renamed takes its vector along by its content hash, at
-- the end of the transaction, so a vector does not go with its document by itself.
CREATE TABLE vectors(
    row          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    generation   integer NOT NULL REFERENCES generations(number) ON DELETE CASCADE,
    document     bigint NOT NULL,
    position     integer NOT NULL,
    owner        text COLLATE "C",
    headings     text[] NOT NULL,
    content_hash text COLLATE "C" NOT NULL,
    dimensions   integer NOT NULL,
    embedding    vector NOT NULL,
    sentences    bytea NOT NULL DEFAULT '',
    embedded_at  timestamptz NOT NULL DEFAULT now(),
    UNIQUE (document, generation, position)
);
-- A scan reads all of them: they stay in the row, unless the row would not fit a page.
ALTER TABLE vectors ALTER COLUMN embedding SET STORAGE MAIN;
ALTER TABLE vectors ALTER COLUMN sentences SET STORAGE EXTERNAL;
CREATE INDEX vectors_by_content ON vectors(content_hash, generation);
CREATE INDEX vectors_by_generation ON vectors(generation);

-- Passages that somebody is embedding now, or that failed.
CREATE TABLE jobs(
    generation   integer NOT NULL REFERENCES generations(number) ON DELETE CASCADE,
    content_hash text COLLATE "C" NOT NULL,
    worker       text COLLATE "C",
    leased_until double precision,
    tries        integer NOT NULL DEFAULT 0,
    retry_at     double precision,
    reason       text,
    PRIMARY KEY (generation, content_hash)
);

-- What became of a request that had a key of its own, so that it is answered again and not done
-- again. The owner is empty for whoever may change everybody's documents.
CREATE TABLE receipts(
    owner text COLLATE "C" NOT NULL,
    key   text COLLATE "C" NOT NULL,
    asked text NOT NULL,
    saved text NOT NULL,
    at    double precision NOT NULL,
    PRIMARY KEY (owner, key)
);

-- Who may ask a server, and for what; of the secret only a hash. A token that is revoked keeps its
-- row, by which the server knows that it has to ask for one.
CREATE TABLE tokens(
    row          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id           text COLLATE "C" NOT NULL UNIQUE,
    name         text COLLATE "C" NOT NULL,
    owner        text COLLATE "C",
    capabilities text NOT NULL,
    created      double precision NOT NULL,
    sha256       text NOT NULL,
    expires      double precision,
    used         double precision,
    revoked      boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX tokens_by_name ON tokens(name) WHERE NOT revoked;
