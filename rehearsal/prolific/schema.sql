-- All that the emulator remembers. Money is in minor units, times are milliseconds
-- since 1970 (UTC). `number` keeps the sequence in which rows were made.

CREATE TABLE setting (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE workspace (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    available INTEGER NOT NULL CHECK (available >= 0)
) STRICT;

CREATE TABLE project (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    title TEXT NOT NULL,
    description TEXT NOT NULL
) STRICT;

CREATE TABLE study (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project_id TEXT NOT NULL REFERENCES project (id),
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    status TEXT NOT NULL,
    fields TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    published_ms INTEGER,
    publish_at_ms INTEGER,
    held INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0)
) STRICT;

CREATE TABLE participant (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    age INTEGER NOT NULL,
    approvals INTEGER NOT NULL,
    rejections INTEGER NOT NULL,
    answers TEXT NOT NULL
) STRICT;

CREATE TABLE submission (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    study_id TEXT NOT NULL REFERENCES study (id),
    participant_id TEXT NOT NULL REFERENCES participant (id),
    status TEXT NOT NULL,
    started_ms INTEGER NOT NULL,
    completed_ms INTEGER,
    return_requested_ms INTEGER,
    entered_code TEXT
) STRICT;
CREATE INDEX submission_by_study ON submission (study_id, status);
CREATE INDEX submission_by_participant ON submission (participant_id, study_id);

CREATE TABLE participant_group (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    name TEXT NOT NULL,
    description TEXT,
    is_deleted INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE membership (
    number INTEGER PRIMARY KEY,
    group_id TEXT NOT NULL REFERENCES participant_group (id),
    participant_id TEXT NOT NULL REFERENCES participant (id),
    created_ms INTEGER NOT NULL,
    UNIQUE (group_id, participant_id)
) STRICT;

CREATE TABLE bonus_batch (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    study_id TEXT NOT NULL REFERENCES study (id),
    created_ms INTEGER NOT NULL,
    pay_calls INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE bonus_line (
    number INTEGER PRIMARY KEY,
    batch_id TEXT NOT NULL REFERENCES bonus_batch (id),
    submission_id TEXT NOT NULL REFERENCES submission (id),
    amount INTEGER NOT NULL CHECK (amount > 0)
) STRICT;

-- One row for each line of each call of pay: a batch that was paid twice has two.
CREATE TABLE bonus_payment (
    number INTEGER PRIMARY KEY,
    batch_id TEXT NOT NULL REFERENCES bonus_batch (id),
    pay_call INTEGER NOT NULL,
    submission_id TEXT NOT NULL REFERENCES submission (id),
    amount INTEGER NOT NULL CHECK (amount > 0),
    paid_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX bonus_payment_by_submission ON bonus_payment (submission_id);

CREATE TABLE message (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    sender_id TEXT NOT NULL,
    recipient_id TEXT NOT NULL,
    study_id TEXT,
    body TEXT NOT NULL,
    sent_ms INTEGER NOT NULL,
    is_read INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Money from one account to another: outside, available, held, rewards, bonuses,
-- fees, vat. `available` and `held` above are its running totals.
CREATE TABLE ledger (
    number INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    study_id TEXT REFERENCES study (id),
    submission_id TEXT REFERENCES submission (id),
    kind TEXT NOT NULL,
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0)
) STRICT;
CREATE INDEX ledger_by_study ON ledger (study_id, target);

-- What happens by itself when its time comes.
CREATE TABLE due (
    number INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL
) STRICT;
CREATE INDEX due_by_time ON due (at_ms, number);
