-- HITs of which no worker does more than one; a pair is written in both directions.

CREATE TABLE kept_apart (
    hit INTEGER NOT NULL REFERENCES hits (id),
    other INTEGER NOT NULL REFERENCES hits (id),
    PRIMARY KEY (hit, other)
) STRICT, WITHOUT ROWID;
ALTER TABLE hits ADD COLUMN is_apart INTEGER NOT NULL DEFAULT 0
    CHECK (is_apart IN (0, 1));
CREATE INDEX hits_apart ON hits (hit_type, status) WHERE is_apart = 1;
