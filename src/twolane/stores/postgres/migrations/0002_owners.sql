-- The second wall between owners, behind the conditions of our own statements.
--
-- Every transaction says whose rows it is about (`twolane.who`): everybody's (`*`) or one owner's
-- (`=` and the name). Where it says nothing, no row is seen, rather than every row.
-- This holds for the owner of the tables, too; only a superuser is above it.
--
-- `words` and `letters` have no such wall: an operator that is not leakproof, as those of full-text
-- search are, could not use an index behind it. They only ever give numbers of documents, which are
-- then looked up behind the wall.

DO $$
DECLARE
    walled text;
BEGIN
    FOREACH walled IN ARRAY ARRAY['documents', 'texts', 'chunks', 'tags', 'property_values',
                                  'sketches', 'vectors', 'receipts', 'tokens'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', walled);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', walled);
        -- Of a CASE the planner assumes that it is often true, and chooses its ways accordingly.
        EXECUTE format('CREATE POLICY owners ON %I USING (
            CASE (SELECT current_setting(''twolane.who'', true)) WHEN ''*'' THEN true
            ELSE ''='' || owner = (SELECT current_setting(''twolane.who'', true)) END)', walled);
    END LOOP;
    FOREACH walled IN ARRAY ARRAY['ledger', 'jobs'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', walled);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', walled);
        EXECUTE format('CREATE POLICY everybody ON %I USING (
            (SELECT current_setting(''twolane.who'', true)) = ''*'')', walled);
    END LOOP;
END
$$;
