-- Workers, requesters, money, qualifications, HITs, assignments.
-- A column with a due time has a partial index, so that a look for what is due never scans HITs.

CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT;
CREATE TABLE calls (
    operation TEXT PRIMARY KEY,
    times INTEGER NOT NULL
) STRICT;

CREATE TABLE requesters (
    id INTEGER PRIMARY KEY,
    access_key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE workers (
    id INTEGER PRIMARY KEY,
    worker_id TEXT NOT NULL UNIQUE,
    handle TEXT NOT NULL UNIQUE,
    token_hash TEXT NOT NULL UNIQUE,
    country TEXT NOT NULL,
    subdivision TEXT,
    is_adult INTEGER NOT NULL CHECK (is_adult IN (0, 1)),
    is_master INTEGER NOT NULL CHECK (is_master IN (0, 1)),
    approved INTEGER NOT NULL CHECK (approved >= 0),
    judged INTEGER NOT NULL CHECK (judged >= approved),
    created_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE accounts (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL
        CHECK (kind IN ('outside', 'fees', 'available', 'held', 'worker')),
    owner INTEGER NOT NULL,
    balance_cents INTEGER NOT NULL CHECK (kind = 'outside' OR balance_cents >= 0),
    UNIQUE (kind, owner)
) STRICT;
CREATE TABLE transfers (
    id INTEGER PRIMARY KEY,
    made_ms INTEGER NOT NULL,
    reason TEXT NOT NULL,
    subject TEXT NOT NULL
) STRICT;
CREATE TABLE entries (
    transfer INTEGER NOT NULL REFERENCES transfers (id),
    account INTEGER NOT NULL REFERENCES accounts (id),
    cents INTEGER NOT NULL,
    PRIMARY KEY (transfer, account)
) STRICT, WITHOUT ROWID;

CREATE TABLE qualification_types (
    id INTEGER PRIMARY KEY,
    qualification_type_id TEXT NOT NULL UNIQUE,
    requester INTEGER REFERENCES requesters (id),
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    keywords TEXT,
    status TEXT NOT NULL CHECK (status IN ('Active', 'Inactive')),
    is_requestable INTEGER NOT NULL CHECK (is_requestable IN (0, 1)),
    retry_delay_seconds INTEGER,
    auto_granted INTEGER NOT NULL CHECK (auto_granted IN (0, 1)),
    auto_granted_value INTEGER,
    created_ms INTEGER NOT NULL,
    deleted_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX qualification_type_names
    ON qualification_types (requester, name) WHERE deleted_ms IS NULL;
CREATE TABLE qualifications (
    id INTEGER PRIMARY KEY,
    qualification_type INTEGER NOT NULL REFERENCES qualification_types (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    value INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('Granted', 'Revoked')),
    granted_ms INTEGER NOT NULL,
    UNIQUE (qualification_type, worker)
) STRICT;
CREATE INDEX qualifications_by_status
    ON qualifications (qualification_type, status, id);
CREATE INDEX qualifications_by_worker ON qualifications (worker);
CREATE TABLE qualification_requests (
    id INTEGER PRIMARY KEY,
    qualification_request_id TEXT NOT NULL UNIQUE,
    qualification_type INTEGER NOT NULL REFERENCES qualification_types (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    status TEXT NOT NULL CHECK (status IN ('Pending', 'Granted', 'Rejected')),
    reason TEXT,
    requested_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX qualification_requests_pending
    ON qualification_requests (qualification_type, worker) WHERE status = 'Pending';
CREATE INDEX qualification_requests_by_worker
    ON qualification_requests (worker, qualification_type, id);

CREATE TABLE hit_types (
    id INTEGER PRIMARY KEY,
    hit_type_id TEXT NOT NULL UNIQUE,
    hit_group_id TEXT NOT NULL UNIQUE,
    requester INTEGER NOT NULL REFERENCES requesters (id),
    fingerprint TEXT NOT NULL,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    keywords TEXT NOT NULL,
    reward_cents INTEGER NOT NULL CHECK (reward_cents >= 0),
    duration_seconds INTEGER NOT NULL,
    auto_approval_seconds INTEGER NOT NULL,
    requirements TEXT NOT NULL,
    assignable_hits INTEGER NOT NULL CHECK (assignable_hits >= 0),
    created_ms INTEGER NOT NULL,
    UNIQUE (requester, fingerprint)
) STRICT;
CREATE INDEX hit_types_with_work ON hit_types (id) WHERE assignable_hits > 0;
CREATE TABLE hit_type_qualifications (
    hit_type INTEGER NOT NULL REFERENCES hit_types (id),
    qualification_type INTEGER NOT NULL REFERENCES qualification_types (id),
    PRIMARY KEY (qualification_type, hit_type)
) STRICT, WITHOUT ROWID;

CREATE TABLE hits (
    id INTEGER PRIMARY KEY,
    hit_id TEXT NOT NULL UNIQUE,
    requester INTEGER NOT NULL REFERENCES requesters (id),
    hit_type INTEGER NOT NULL REFERENCES hit_types (id),
    status TEXT NOT NULL CHECK (status IN
        ('Assignable', 'Unassignable', 'Reviewable', 'Reviewing', 'Disposed')),
    max_assignments INTEGER NOT NULL,
    accepted INTEGER NOT NULL DEFAULT 0 CHECK (accepted >= 0),
    submitted INTEGER NOT NULL DEFAULT 0 CHECK (submitted >= 0),
    approved INTEGER NOT NULL DEFAULT 0 CHECK (approved >= 0),
    rejected INTEGER NOT NULL DEFAULT 0 CHECK (rejected >= 0),
    reward_cents INTEGER NOT NULL,
    fee_cents INTEGER NOT NULL,
    held_cents INTEGER NOT NULL CHECK (held_cents >= 0),
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    is_expired INTEGER NOT NULL CHECK (is_expired IN (0, 1)),
    dispose_ms INTEGER,
    annotation TEXT,
    question TEXT NOT NULL,
    CHECK (accepted + submitted + approved + rejected <= max_assignments)
) STRICT;
CREATE INDEX hits_alive ON hits (requester, id) WHERE status <> 'Disposed';
CREATE INDEX hits_by_status ON hits (requester, status, id);
CREATE INDEX hits_by_type ON hits (hit_type, status, id);
CREATE INDEX hits_expiring ON hits (expires_ms) WHERE is_expired = 0;
CREATE INDEX hits_disposing ON hits (dispose_ms) WHERE dispose_ms IS NOT NULL;

CREATE TABLE assignments (
    id INTEGER PRIMARY KEY,
    assignment_id TEXT NOT NULL UNIQUE,
    hit INTEGER NOT NULL REFERENCES hits (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    status TEXT NOT NULL CHECK (status IN
        ('Accepted', 'Returned', 'Abandoned', 'Submitted', 'Approved', 'Rejected')),
    accepted_ms INTEGER NOT NULL,
    deadline_ms INTEGER NOT NULL,
    closed_ms INTEGER,
    submitted_ms INTEGER,
    auto_approve_ms INTEGER,
    approved_ms INTEGER,
    rejected_ms INTEGER,
    paid_cents INTEGER NOT NULL DEFAULT 0,
    fee_cents INTEGER NOT NULL DEFAULT 0,
    feedback TEXT,
    answer TEXT
) STRICT;
CREATE UNIQUE INDEX one_worker_does_a_hit_once ON assignments (hit, worker)
    WHERE status IN ('Accepted', 'Submitted', 'Approved', 'Rejected');
CREATE INDEX assignments_by_worker ON assignments (worker, hit);
CREATE INDEX assignments_by_hit ON assignments (hit, submitted_ms, id);
CREATE INDEX assignments_running ON assignments (deadline_ms)
    WHERE status = 'Accepted';
CREATE INDEX assignments_undecided ON assignments (auto_approve_ms)
    WHERE status = 'Submitted';

CREATE TABLE bonuses (
    id INTEGER PRIMARY KEY,
    assignment INTEGER NOT NULL REFERENCES assignments (id),
    hit INTEGER NOT NULL REFERENCES hits (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    cents INTEGER NOT NULL,
    fee_cents INTEGER NOT NULL,
    reason TEXT NOT NULL,
    paid_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX bonuses_by_assignment ON bonuses (assignment, id);
CREATE INDEX bonuses_by_hit ON bonuses (hit, id);
CREATE INDEX bonuses_by_worker ON bonuses (worker, id);
CREATE TABLE blocks (
    id INTEGER PRIMARY KEY,
    requester INTEGER NOT NULL REFERENCES requesters (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    reason TEXT NOT NULL,
    UNIQUE (requester, worker)
) STRICT;
CREATE TABLE request_tokens (
    requester INTEGER NOT NULL REFERENCES requesters (id),
    operation TEXT NOT NULL,
    token TEXT NOT NULL,
    subject TEXT NOT NULL,
    made_ms INTEGER NOT NULL,
    PRIMARY KEY (requester, operation, token)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_tokens_by_age ON request_tokens (made_ms);

INSERT INTO qualification_types (qualification_type_id, name, description, status,
    is_requestable, auto_granted, created_ms) VALUES
('2ARFPLSP75KLA8M8DH1HTEQVJT3SY6', 'Masters (sandbox)',
 'The worker is one of the masters.', 'Active', 0, 0, 0),
('2F1QJWKUDD8XADTFD2Q0G6UTO95ALH', 'Masters',
 'The worker is one of the masters.', 'Active', 0, 0, 0),
('00000000000000000040', 'Worker_NumberHITsApproved',
 'How many HITs of the worker were approved.', 'Active', 0, 0, 0),
('00000000000000000071', 'Worker_Locale',
 'Where the worker lives.', 'Active', 0, 0, 0),
('00000000000000000060', 'Worker_Adult',
 'The worker agreed to see adult content.', 'Active', 0, 0, 0),
('000000000000000000L0', 'Worker_PercentAssignmentsApproved',
 'How many per cent of the worker''s judged assignments were approved.',
 'Active', 0, 0, 0);
