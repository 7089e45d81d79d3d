-- Links that sign workers in, and the sessions that they open. A session is a row:
-- what ends it (signing out, its time, a revoked invitation) ends it for the very next
-- request, which a signed cookie could not.

CREATE TABLE invitations (
    id INTEGER PRIMARY KEY,
    invitation_id TEXT NOT NULL UNIQUE,
    worker INTEGER NOT NULL REFERENCES workers (id),
    made_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    revoked_ms INTEGER
) STRICT;
CREATE INDEX invitations_by_worker ON invitations (worker);
CREATE TABLE worker_sessions (
    key_hash TEXT PRIMARY KEY,
    worker INTEGER NOT NULL REFERENCES workers (id),
    invitation INTEGER REFERENCES invitations (id),
    token_hash TEXT,
    started_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    CHECK ((invitation IS NULL) <> (token_hash IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX worker_sessions_by_worker ON worker_sessions (worker);
CREATE INDEX worker_sessions_by_age ON worker_sessions (expires_ms);
