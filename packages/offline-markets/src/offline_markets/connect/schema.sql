-- The emulator's state. Money is in cents, times are milliseconds since 1970 (UTC).
-- `number` keeps the order of insertion.

CREATE TABLE IF NOT EXISTS setting (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS account (
    number INTEGER PRIMARY KEY CHECK (number = 1),
    available INTEGER NOT NULL CHECK (available >= 0)
) STRICT;

CREATE TABLE IF NOT EXISTS project (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    fields TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    held INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0)
) STRICT;

CREATE TABLE IF NOT EXISTS participant (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE IF NOT EXISTS assignment (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project_id TEXT NOT NULL REFERENCES project (id),
    participant_id TEXT NOT NULL REFERENCES participant (id),
    status TEXT NOT NULL,
    started_ms INTEGER NOT NULL,
    completed_ms INTEGER,
    completion_type TEXT,
    entered_code TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS assignment_by_project ON assignment (project_id, participant_id);

CREATE TABLE IF NOT EXISTS message (
    number INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    project_id TEXT NOT NULL REFERENCES project (id),
    participant_id TEXT NOT NULL REFERENCES participant (id),
    subject TEXT,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS ledger (
    number INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    project_id TEXT REFERENCES project (id),
    assignment_id TEXT REFERENCES assignment (id),
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0)
) STRICT;
CREATE INDEX IF NOT EXISTS ledger_by_assignment ON ledger (assignment_id);

-- The tokens of calls, kept for a day.
CREATE TABLE IF NOT EXISTS idempotency_token (
    token TEXT PRIMARY KEY,
    used_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS due (
    number INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS due_by_time ON due (at_ms, number);
