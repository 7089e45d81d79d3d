-- Each start of a server begins a generation. With the number of committed changes it
-- marks a moment of this file, by which a restored copy is told from the file itself.

CREATE TABLE generations (
    number INTEGER PRIMARY KEY,
    generation TEXT NOT NULL UNIQUE,
    first_change INTEGER NOT NULL,
    began_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE store_marks (
    requester INTEGER NOT NULL REFERENCES requesters (id),
    store TEXT NOT NULL,
    mark TEXT NOT NULL,
    heard_ms INTEGER NOT NULL,
    PRIMARY KEY (requester, store)
) STRICT, WITHOUT ROWID;
