-- Earned qualifications of a requester: evidence and changes of all campaigns that share
-- the file (`piecework.store.earned_records`). `market` is the requester's account, or the
-- endpoint of a marketplace that names none.

-- How each worker's work on an item came out. A campaign writes only its own rows.
CREATE TABLE evidence (
    market TEXT NOT NULL,
    kind TEXT NOT NULL,
    campaign TEXT NOT NULL,
    worker_id TEXT NOT NULL,
    item_id TEXT NOT NULL,
    agrees INTEGER NOT NULL CHECK (agrees IN (0, 1)),
    at TEXT NOT NULL,
    PRIMARY KEY (market, kind, worker_id, campaign, item_id)
) STRICT, WITHOUT ROWID;

-- The decisions of a campaign that its evidence contains (`decisions.edition`).
CREATE TABLE contributions (
    market TEXT NOT NULL,
    kind TEXT NOT NULL,
    campaign TEXT NOT NULL,
    decisions TEXT NOT NULL,
    PRIMARY KEY (market, kind, campaign)
) STRICT, WITHOUT ROWID;

-- How often the evidence of a kind has changed.
CREATE TABLE editions (
    market TEXT NOT NULL,
    kind TEXT NOT NULL,
    edition INTEGER NOT NULL,
    PRIMARY KEY (market, kind)
) STRICT, WITHOUT ROWID;

-- The rule of each qualification, who stated it, and the evidence and day that it was
-- last applied to.
CREATE TABLE rules (
    market TEXT NOT NULL,
    name TEXT NOT NULL,
    terms TEXT NOT NULL,
    campaign TEXT NOT NULL,
    edition INTEGER NOT NULL DEFAULT 0,
    day TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (market, name)
) STRICT, WITHOUT ROWID;

-- Grants and revocations. A row is an intent until it was carried out: the next pass of
-- any of the campaigns finishes it.
CREATE TABLE changes (
    change_id INTEGER PRIMARY KEY,
    market TEXT NOT NULL,
    name TEXT NOT NULL,
    worker_id TEXT NOT NULL,
    change TEXT NOT NULL CHECK (change IN ('grant', 'revoke')),
    decided_by TEXT NOT NULL,
    decided_at TEXT NOT NULL,
    items INTEGER NOT NULL,
    agreed INTEGER NOT NULL,
    first_at TEXT,
    last_at TEXT,
    because TEXT NOT NULL,
    -- After a person restored it, only items submitted later count against the worker.
    counts_after TEXT,
    begun_at TEXT,
    done_at TEXT,
    notified_at TEXT
) STRICT;
CREATE INDEX changes_by_worker ON changes (market, name, worker_id, change_id);
CREATE UNIQUE INDEX changes_open ON changes (market, name, worker_id)
    WHERE done_at IS NULL;
CREATE INDEX changes_unfinished ON changes (market, name)
    WHERE done_at IS NULL OR notified_at IS NULL;
