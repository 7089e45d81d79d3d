-- Keys that requesters sign with, and the signatures that changed something.

CREATE TABLE access_keys (
    id INTEGER PRIMARY KEY,
    access_key TEXT NOT NULL UNIQUE,
    requester INTEGER NOT NULL REFERENCES requesters (id),
    secret TEXT,
    made_ms INTEGER NOT NULL,
    revoked_ms INTEGER,
    CHECK ((secret IS NULL) = (revoked_ms IS NOT NULL))
) STRICT;
CREATE TABLE spent_signatures (
    signature BLOB NOT NULL,
    attempt TEXT NOT NULL,
    spent_ms INTEGER NOT NULL,
    dies_ms INTEGER NOT NULL,
    PRIMARY KEY (signature, attempt)
) STRICT, WITHOUT ROWID;
CREATE INDEX spent_signatures_by_age ON spent_signatures (dies_ms);
