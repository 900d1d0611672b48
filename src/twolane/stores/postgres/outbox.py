"""The triggers that record every change for another engine, in PostgreSQL."""

from __future__ import annotations

from twolane.stores.postgres.lexical import STREAMS_OF
from twolane.stores.sql.outbox import Engine

# Table → what a change of one of its rows records.
# An entry without an id says that generations changed.
_RECORDS = {
    "documents": """
        IF TG_OP <> 'DELETE' THEN INSERT INTO outbox(id) VALUES (NEW.id); END IF;
        IF TG_OP = 'DELETE' OR (TG_OP = 'UPDATE' AND OLD.id IS DISTINCT FROM NEW.id) THEN
            INSERT INTO outbox(id) VALUES (OLD.id);
        END IF;""",
    "collections": """
        IF TG_OP = 'UPDATE' AND OLD.name <> NEW.name THEN
            INSERT INTO outbox(id) SELECT id FROM documents WHERE collection = NEW.row;
        END IF;""",
    # The vectors of a generation that is dropped go with its collection.
    "vectors": """
        IF TG_OP <> 'DELETE' THEN
            INSERT INTO outbox(id) SELECT id FROM documents WHERE row = NEW.document;
        END IF;
        IF TG_OP <> 'INSERT' AND EXISTS (
                SELECT 1 FROM generations WHERE number = OLD.generation) THEN
            INSERT INTO outbox(id) SELECT id FROM documents WHERE row = OLD.document;
        END IF;""",
    "generations": """
        IF TG_OP <> 'UPDATE' THEN INSERT INTO outbox(id) VALUES (''); END IF;""",
}

ENGINE = Engine(
    make=(
        "CREATE TABLE outbox(seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
        ' id text COLLATE "C" NOT NULL,'
        " at double precision NOT NULL DEFAULT extract(epoch FROM clock_timestamp()))",
        "CREATE TABLE outbox_turns(number bigint NOT NULL, worker text NOT NULL,"
        " until double precision NOT NULL, identity text NOT NULL)",
        "INSERT INTO outbox_turns VALUES (0, '', 0, gen_random_uuid())",
        *(
            f"CREATE FUNCTION outbox_{table}() RETURNS trigger LANGUAGE plpgsql AS"
            f" $$ BEGIN {records} RETURN NULL; END $$"
            for table, records in _RECORDS.items()
        ),
        *(
            f"CREATE TRIGGER outbox AFTER INSERT OR UPDATE OR DELETE ON {table}"
            f" FOR EACH ROW EXECUTE FUNCTION outbox_{table}()"
            for table in _RECORDS
        ),
    ),
    unmake=(
        *(f"DROP TRIGGER outbox ON {table}" for table in _RECORDS),
        *(f"DROP FUNCTION outbox_{table}" for table in _RECORDS),
        "DROP TABLE outbox, outbox_turns",
    ),
    there="SELECT 1 FROM pg_tables WHERE schemaname = 'twolane' AND tablename = 'outbox_turns'",
    streams=STREAMS_OF,
    languages=tuple,
)
