-- Links by which a class or a team comes in: each who joins becomes a worker of his own,
-- until all places are taken. The limit is a constraint, whoever asks at the same time.

CREATE TABLE open_links (
    id INTEGER PRIMARY KEY,
    link_id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    country TEXT NOT NULL,
    subdivision TEXT,
    is_adult INTEGER NOT NULL,
    places INTEGER NOT NULL CHECK (places > 0),
    taken INTEGER NOT NULL DEFAULT 0 CHECK (taken BETWEEN 0 AND places),
    completion_code TEXT NOT NULL,
    completion_hits INTEGER NOT NULL CHECK (completion_hits > 0),
    made_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    closed_ms INTEGER
) STRICT;
CREATE TABLE joined_workers (
    worker INTEGER PRIMARY KEY REFERENCES workers (id),
    open_link INTEGER NOT NULL REFERENCES open_links (id),
    joined_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX joined_workers_by_link ON joined_workers (open_link);
