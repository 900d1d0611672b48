-- What a server called the model that made the vectors of a generation.

ALTER TABLE generations ADD COLUMN answered_by text NOT NULL DEFAULT '';
