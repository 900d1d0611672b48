-- outside of a transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS documents_by_path_end ON documents(path_end);
CREATE INDEX CONCURRENTLY IF NOT EXISTS documents_without_path_end ON documents(row)
WHERE path_end IS NULL AND path IS NOT NULL;
