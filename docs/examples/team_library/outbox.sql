-- What has to be told to Twolane: a row for each change, written by the transaction that makes it.
-- A row names what changed and not how: the feeder looks at what is there now.

CREATE TABLE search_outbox(
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind    text NOT NULL,
    item_id bigint NOT NULL
);

-- What could not be told, and why.
CREATE TABLE search_problems(
    kind    text NOT NULL,
    item_id bigint NOT NULL,
    reason  text NOT NULL,
    PRIMARY KEY (kind, item_id)
);

-- A row of bookmarks, notes or prompts was inserted, updated or deleted.
CREATE FUNCTION note_item() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_outbox(kind, item_id) VALUES (TG_ARGV[0], coalesce(NEW.id, OLD.id));
    NOTIFY search_outbox;
    RETURN NULL;
END $$;

-- A tag was given to one of them, or taken from it.
CREATE FUNCTION note_tagging() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_outbox(kind, item_id)
    VALUES (TG_ARGV[0], coalesce(NEW.item_id, OLD.item_id));
    NOTIFY search_outbox;
    RETURN NULL;
END $$;

-- A tag got another name: all that have it changed.
CREATE FUNCTION note_tag() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_outbox(kind, item_id)
    SELECT 'bookmark', item_id FROM bookmark_tags WHERE tag_id = NEW.id
    UNION ALL SELECT 'note', item_id FROM note_tags WHERE tag_id = NEW.id
    UNION ALL SELECT 'prompt', item_id FROM prompt_tags WHERE tag_id = NEW.id;
    NOTIFY search_outbox;
    RETURN NULL;
END $$;

CREATE TRIGGER to_search AFTER INSERT OR UPDATE OR DELETE ON bookmarks
    FOR EACH ROW EXECUTE FUNCTION note_item('bookmark');
CREATE TRIGGER to_search AFTER INSERT OR UPDATE OR DELETE ON notes
    FOR EACH ROW EXECUTE FUNCTION note_item('note');
CREATE TRIGGER to_search AFTER INSERT OR UPDATE OR DELETE ON prompts
    FOR EACH ROW EXECUTE FUNCTION note_item('prompt');
CREATE TRIGGER to_search AFTER INSERT OR UPDATE OR DELETE ON bookmark_tags
    FOR EACH ROW EXECUTE FUNCTION note_tagging('bookmark');
CREATE TRIGGER to_search AFTER INSERT OR UPDATE OR DELETE ON note_tags
    FOR EACH ROW EXECUTE FUNCTION note_tagging('note');
CREATE TRIGGER to_search AFTER INSERT OR UPDATE OR DELETE ON prompt_tags
    FOR EACH ROW EXECUTE FUNCTION note_tagging('prompt');
CREATE TRIGGER to_search AFTER UPDATE OF name ON tags
    FOR EACH ROW EXECUTE FUNCTION note_tag();

-- What was there before.
INSERT INTO search_outbox(kind, item_id)
SELECT 'bookmark', id FROM bookmarks
UNION ALL SELECT 'note', id FROM notes
UNION ALL SELECT 'prompt', id FROM prompts;
