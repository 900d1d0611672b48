-- outside of a transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS vectors_by_owner ON vectors(owner, generation);
