-- All that one loop needs: HITs, intents, answers, judgements, money, edits.

CREATE TABLE about (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE hits (
    hit_key TEXT PRIMARY KEY,
    batch INTEGER NOT NULL,
    round INTEGER NOT NULL,
    max_assignments INTEGER NOT NULL CHECK (max_assignments > 0),
    reward_cents INTEGER NOT NULL CHECK (reward_cents >= 0),
    fee_cents INTEGER NOT NULL CHECK (fee_cents >= 0),
    item_ids TEXT NOT NULL,
    hit_type_id TEXT,
    hit_id TEXT UNIQUE,
    posted_at TEXT,
    collected_at TEXT
) STRICT;
CREATE INDEX hits_by_batch ON hits (batch, round);

CREATE TABLE intents (
    intent_key TEXT PRIMARY KEY,
    operation TEXT NOT NULL,
    arguments TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    made_at TEXT NOT NULL,
    done_at TEXT,
    outcome TEXT
) STRICT;

CREATE TABLE assignments (
    assignment_id TEXT PRIMARY KEY,
    hit_id TEXT NOT NULL REFERENCES hits (hit_id),
    worker_id TEXT NOT NULL,
    status_when_collected TEXT NOT NULL,
    accepted_at TEXT NOT NULL,
    submitted_at TEXT NOT NULL,
    raw TEXT NOT NULL,
    fields TEXT NOT NULL
) STRICT;
CREATE INDEX assignments_by_hit ON assignments (hit_id);
CREATE INDEX assignments_by_worker ON assignments (worker_id);

CREATE TABLE answers (
    answer_id TEXT PRIMARY KEY,
    assignment_id TEXT NOT NULL REFERENCES assignments (assignment_id),
    item_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    fields TEXT NOT NULL,
    problems TEXT NOT NULL
) STRICT;
CREATE INDEX answers_by_assignment ON answers (assignment_id);

CREATE TABLE findings (
    subject_kind TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    heuristic TEXT NOT NULL,
    version INTEGER NOT NULL,
    suspicion REAL NOT NULL CHECK (suspicion BETWEEN 0 AND 1),
    flag INTEGER NOT NULL,
    evidence TEXT NOT NULL,
    PRIMARY KEY (subject_kind, subject_id, heuristic)
) STRICT, WITHOUT ROWID;

CREATE TABLE decisions (
    decision_id INTEGER PRIMARY KEY,
    subject_kind TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    verdict TEXT NOT NULL,
    decided_by TEXT NOT NULL,
    decided_at TEXT NOT NULL,
    because TEXT NOT NULL
) STRICT;
CREATE INDEX decisions_by_subject ON decisions (subject_kind, subject_id);

CREATE TABLE ledger (
    entry_id INTEGER PRIMARY KEY,
    intent_key TEXT NOT NULL REFERENCES intents (intent_key),
    credit TEXT NOT NULL,
    debit TEXT NOT NULL,
    amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    at TEXT NOT NULL
) STRICT;

CREATE TABLE edits (
    answer_id TEXT NOT NULL REFERENCES answers (answer_id),
    number INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    rule TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (answer_id, number)
) STRICT, WITHOUT ROWID;
