-- The second wall between owners for words and letters.
--
-- Row-level security would keep their indexes from being used. These views do not: what is read
-- through them is, like everything behind the wall, what the transaction is about (`twolane.who`).
-- Searches read the views; only what writes and mends reads the tables.

CREATE VIEW own_words AS SELECT document, owner, words FROM words
WHERE CASE (SELECT current_setting('twolane.who', true)) WHEN '*' THEN true
      ELSE '=' || owner = (SELECT current_setting('twolane.who', true)) END;

CREATE VIEW own_letters AS SELECT document, owner, names, texts FROM letters
WHERE CASE (SELECT current_setting('twolane.who', true)) WHEN '*' THEN true
      ELSE '=' || owner = (SELECT current_setting('twolane.who', true)) END;

-- The path as it is compared, backwards and after a `/`, so that an index finds how paths end.
-- Rows from before have none until the store settles.
ALTER TABLE documents ADD COLUMN path_end text COLLATE "C"
