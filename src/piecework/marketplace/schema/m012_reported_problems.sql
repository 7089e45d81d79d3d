-- What workers say is wrong with a HIT, for the requester to read.

CREATE TABLE reported_problems (
    id INTEGER PRIMARY KEY,
    assignment INTEGER NOT NULL REFERENCES assignments (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    text TEXT NOT NULL,
    reported_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX reported_problems_by_worker ON reported_problems (worker, reported_ms);
