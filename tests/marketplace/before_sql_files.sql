BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'marketplace','m001_first_market','2026-11-22 04:44:29.580504+00:00');
INSERT INTO "_sqlite_migrations" VALUES(2,'marketplace','m002_keys_and_signatures','2026-11-22 04:44:29.581045+00:00');
INSERT INTO "_sqlite_migrations" VALUES(3,'marketplace','m003_invitations_and_sessions','2026-11-22 04:44:29.581556+00:00');
INSERT INTO "_sqlite_migrations" VALUES(4,'marketplace','m004_tests_reviews_and_events','2026-11-22 04:44:29.586557+00:00');
INSERT INTO "_sqlite_migrations" VALUES(5,'marketplace','m005_a_glance_over_expired_hits','2026-11-22 04:44:29.586973+00:00');
INSERT INTO "_sqlite_migrations" VALUES(6,'marketplace','m006_events_have_an_end','2026-11-22 04:44:29.587876+00:00');
CREATE TABLE access_keys (
    id INTEGER PRIMARY KEY,
    access_key TEXT NOT NULL UNIQUE,
    requester INTEGER NOT NULL REFERENCES requesters (id),
    secret TEXT,
    made_ms INTEGER NOT NULL,
    revoked_ms INTEGER,
    CHECK ((secret IS NULL) = (revoked_ms IS NOT NULL))
) STRICT;
CREATE TABLE accounts (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL
        CHECK (kind IN ('outside', 'fees', 'available', 'held', 'worker')),
    owner INTEGER NOT NULL,
    balance_cents INTEGER NOT NULL CHECK (kind = 'outside' OR balance_cents >= 0),
    UNIQUE (kind, owner)
) STRICT;
INSERT INTO "accounts" VALUES(1,'outside',0,-1000000);
INSERT INTO "accounts" VALUES(2,'available',1,999868);
INSERT INTO "accounts" VALUES(3,'held',1,132);
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
, review_ms INTEGER) STRICT;
CREATE TABLE blocks (
    id INTEGER PRIMARY KEY,
    requester INTEGER NOT NULL REFERENCES requesters (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    reason TEXT NOT NULL,
    UNIQUE (requester, worker)
) STRICT;
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
CREATE TABLE calls (
    operation TEXT PRIMARY KEY,
    times INTEGER NOT NULL
) STRICT;
CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT;
INSERT INTO "counters" VALUES('hits',1);
CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY,
    event INTEGER NOT NULL REFERENCES events (id),
    transport TEXT NOT NULL,
    destination TEXT NOT NULL,
    document TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('Waiting', 'Delivered', 'Failed')),
    tries INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE entries (
    transfer INTEGER NOT NULL REFERENCES transfers (id),
    account INTEGER NOT NULL REFERENCES accounts (id),
    cents INTEGER NOT NULL,
    PRIMARY KEY (transfer, account)
) STRICT, WITHOUT ROWID;
INSERT INTO "entries" VALUES(1,1,-1000000);
INSERT INTO "entries" VALUES(1,2,1000000);
INSERT INTO "entries" VALUES(2,2,-132);
INSERT INTO "entries" VALUES(2,3,132);
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    requester INTEGER NOT NULL REFERENCES requesters (id),
    event_type TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    hit_type_id TEXT,
    hit_id TEXT,
    assignment_id TEXT
, drop_ms INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "events" VALUES(1,1,'HITCreated',1767603600000,'3KUEFEZKELMQS0GIP1INQPEWMZC3ZJ','3BESIVB3GA86KMQWM5R8QT9WUB2EAD',NULL,1770195600000);
CREATE TABLE hit_type_qualifications (
    hit_type INTEGER NOT NULL REFERENCES hit_types (id),
    qualification_type INTEGER NOT NULL REFERENCES qualification_types (id),
    PRIMARY KEY (qualification_type, hit_type)
) STRICT, WITHOUT ROWID;
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
    created_ms INTEGER NOT NULL, deleted_ms INTEGER,
    UNIQUE (requester, fingerprint)
) STRICT;
INSERT INTO "hit_types" VALUES(1,'3KUEFEZKELMQS0GIP1INQPEWMZC3ZJ','3S4VV07PYYUY0HFUTTPVP5EAGFC2MF',1,'f78b546ee1da809eb36210a5d0533775add956db5d165aeefdf26dbf499d9e9b','Describe a picture','Say what it shows.','image, caption',55,600,3600,'[]',1,1767603600000,NULL);
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
    question TEXT NOT NULL, assignment_policy TEXT, hit_policy TEXT, review_ms INTEGER,
    CHECK (accepted + submitted + approved + rejected <= max_assignments)
) STRICT;
INSERT INTO "hits" VALUES(1,'3BESIVB3GA86KMQWM5R8QT9WUB2EAD',1,1,'Assignable',2,0,0,0,0,55,11,132,1767603600000,1767690000000,0,NULL,NULL,'<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA[<!doctype html><title>A question</title><p>What is it?]]></HTMLContent><FrameHeight>0</FrameHeight></HTMLQuestion>',NULL,NULL,NULL);
CREATE TABLE invitations (
    id INTEGER PRIMARY KEY,
    invitation_id TEXT NOT NULL UNIQUE,
    worker INTEGER NOT NULL REFERENCES workers (id),
    made_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    revoked_ms INTEGER
) STRICT;
CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    worker INTEGER NOT NULL REFERENCES workers (id),
    requester INTEGER NOT NULL REFERENCES requesters (id),
    subject TEXT NOT NULL,
    text TEXT NOT NULL,
    sent_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE notification_settings (
    hit_type INTEGER PRIMARY KEY REFERENCES hit_types (id),
    destination TEXT NOT NULL,
    transport TEXT NOT NULL CHECK (transport IN ('SQS', 'SNS')),
    version TEXT NOT NULL,
    event_types TEXT NOT NULL,
    is_active INTEGER NOT NULL CHECK (is_active IN (0, 1))
) STRICT;
CREATE TABLE qualification_requests (
    id INTEGER PRIMARY KEY,
    qualification_request_id TEXT NOT NULL UNIQUE,
    qualification_type INTEGER NOT NULL REFERENCES qualification_types (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    status TEXT NOT NULL CHECK (status IN ('Pending', 'Granted', 'Rejected')),
    reason TEXT,
    requested_ms INTEGER NOT NULL
, test INTEGER REFERENCES tests (id), answer TEXT) STRICT;
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
, test INTEGER REFERENCES tests (id)) STRICT;
INSERT INTO "qualification_types" VALUES(1,'2ARFPLSP75KLA8M8DH1HTEQVJT3SY6',NULL,'Masters (sandbox)','The worker is one of the masters.',NULL,'Active',0,NULL,0,NULL,0,NULL,NULL);
INSERT INTO "qualification_types" VALUES(2,'2F1QJWKUDD8XADTFD2Q0G6UTO95ALH',NULL,'Masters','The worker is one of the masters.',NULL,'Active',0,NULL,0,NULL,0,NULL,NULL);
INSERT INTO "qualification_types" VALUES(3,'00000000000000000040',NULL,'Worker_NumberHITsApproved','How many HITs of the worker were approved.',NULL,'Active',0,NULL,0,NULL,0,NULL,NULL);
INSERT INTO "qualification_types" VALUES(4,'00000000000000000071',NULL,'Worker_Locale','Where the worker lives.',NULL,'Active',0,NULL,0,NULL,0,NULL,NULL);
INSERT INTO "qualification_types" VALUES(5,'00000000000000000060',NULL,'Worker_Adult','The worker agreed to see adult content.',NULL,'Active',0,NULL,0,NULL,0,NULL,NULL);
INSERT INTO "qualification_types" VALUES(6,'000000000000000000L0',NULL,'Worker_PercentAssignmentsApproved','How many per cent of the worker''s judged assignments were approved.',NULL,'Active',0,NULL,0,NULL,0,NULL,NULL);
CREATE TABLE qualifications (
    id INTEGER PRIMARY KEY,
    qualification_type INTEGER NOT NULL REFERENCES qualification_types (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    value INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('Granted', 'Revoked')),
    granted_ms INTEGER NOT NULL,
    UNIQUE (qualification_type, worker)
) STRICT;
CREATE TABLE request_tokens (
    requester INTEGER NOT NULL REFERENCES requesters (id),
    operation TEXT NOT NULL,
    token TEXT NOT NULL,
    subject TEXT NOT NULL,
    made_ms INTEGER NOT NULL,
    PRIMARY KEY (requester, operation, token)
) STRICT, WITHOUT ROWID;
CREATE TABLE requesters (
    id INTEGER PRIMARY KEY,
    access_key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
INSERT INTO "requesters" VALUES(1,'LAB','Requester',1767603600000);
CREATE TABLE reviews (
    id INTEGER PRIMARY KEY,
    hit INTEGER NOT NULL REFERENCES hits (id),
    level TEXT NOT NULL CHECK (level IN ('Assignment', 'HIT')),
    kind TEXT NOT NULL CHECK (kind IN ('Result', 'Action')),
    action_id TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    subject_type TEXT NOT NULL,
    question TEXT,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    status TEXT,
    done_ms INTEGER,
    error_code TEXT
) STRICT;
CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
INSERT INTO "settings" VALUES('rehearsal','1');
INSERT INTO "settings" VALUES('seed','7');
INSERT INTO "settings" VALUES('now_ms','1767603600000');
CREATE TABLE spent_signatures (
    signature BLOB NOT NULL,
    attempt TEXT NOT NULL,
    spent_ms INTEGER NOT NULL,
    dies_ms INTEGER NOT NULL,
    PRIMARY KEY (signature, attempt)
) STRICT, WITHOUT ROWID;
CREATE TABLE test_attempts (
    id INTEGER PRIMARY KEY,
    qualification_type INTEGER NOT NULL REFERENCES qualification_types (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    test INTEGER NOT NULL REFERENCES tests (id),
    status TEXT NOT NULL CHECK (status IN ('Open', 'Submitted', 'Late')),
    started_ms INTEGER NOT NULL,
    deadline_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    CHECK ((status = 'Open') = (ended_ms IS NULL))
) STRICT;
CREATE TABLE tests (
    id INTEGER PRIMARY KEY,
    form TEXT NOT NULL,
    answer_key TEXT,
    duration_seconds INTEGER NOT NULL CHECK (duration_seconds > 0)
) STRICT;
CREATE TABLE transfers (
    id INTEGER PRIMARY KEY,
    made_ms INTEGER NOT NULL,
    reason TEXT NOT NULL,
    subject TEXT NOT NULL
) STRICT;
INSERT INTO "transfers" VALUES(1,1767603600000,'deposit','LAB');
INSERT INTO "transfers" VALUES(2,1767603600000,'hold','3BESIVB3GA86KMQWM5R8QT9WUB2EAD');
CREATE TABLE worker_sessions (
    key_hash TEXT PRIMARY KEY,
    worker INTEGER NOT NULL REFERENCES workers (id),
    invitation INTEGER REFERENCES invitations (id),
    token_hash TEXT,
    started_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    CHECK ((invitation IS NULL) <> (token_hash IS NULL))
) STRICT, WITHOUT ROWID;
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
INSERT INTO "workers" VALUES(1,'AN7PNPO1COBB81','ann','68ed5a1407f0dcd92df5b73b8676aae8d2b4269777e8802b8ff225418b6f7e9a','US',NULL,0,0,0,0,1767603600000);
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE UNIQUE INDEX qualification_type_names
    ON qualification_types (requester, name) WHERE deleted_ms IS NULL;
CREATE INDEX qualifications_by_status
    ON qualifications (qualification_type, status, id);
CREATE INDEX qualifications_by_worker ON qualifications (worker);
CREATE UNIQUE INDEX qualification_requests_pending
    ON qualification_requests (qualification_type, worker) WHERE status = 'Pending';
CREATE INDEX qualification_requests_by_worker
    ON qualification_requests (worker, qualification_type, id);
CREATE INDEX hit_types_with_work ON hit_types (id) WHERE assignable_hits > 0;
CREATE INDEX hits_alive ON hits (requester, id) WHERE status <> 'Disposed';
CREATE INDEX hits_by_status ON hits (requester, status, id);
CREATE INDEX hits_expiring ON hits (expires_ms) WHERE is_expired = 0;
CREATE INDEX hits_disposing ON hits (dispose_ms) WHERE dispose_ms IS NOT NULL;
CREATE UNIQUE INDEX one_worker_does_a_hit_once ON assignments (hit, worker)
    WHERE status IN ('Accepted', 'Submitted', 'Approved', 'Rejected');
CREATE INDEX assignments_by_worker ON assignments (worker, hit);
CREATE INDEX assignments_by_hit ON assignments (hit, submitted_ms, id);
CREATE INDEX assignments_running ON assignments (deadline_ms)
    WHERE status = 'Accepted';
CREATE INDEX assignments_undecided ON assignments (auto_approve_ms)
    WHERE status = 'Submitted';
CREATE INDEX bonuses_by_assignment ON bonuses (assignment, id);
CREATE INDEX bonuses_by_hit ON bonuses (hit, id);
CREATE INDEX bonuses_by_worker ON bonuses (worker, id);
CREATE INDEX request_tokens_by_age ON request_tokens (made_ms);
CREATE INDEX spent_signatures_by_age ON spent_signatures (dies_ms)
;
CREATE INDEX invitations_by_worker ON invitations (worker);
CREATE INDEX worker_sessions_by_worker ON worker_sessions (worker);
CREATE INDEX worker_sessions_by_age ON worker_sessions (expires_ms)
;
CREATE INDEX qualification_types_requestable ON qualification_types (id)
    WHERE deleted_ms IS NULL AND is_requestable = 1 AND status = 'Active';
CREATE UNIQUE INDEX one_attempt_at_a_time ON test_attempts (worker, qualification_type)
    WHERE status = 'Open';
CREATE INDEX test_attempts_by_worker ON test_attempts (worker, qualification_type, id);
CREATE INDEX test_attempts_running ON test_attempts (deadline_ms)
    WHERE status = 'Open';
CREATE INDEX hits_to_review ON hits (review_ms, id) WHERE review_ms IS NOT NULL;
CREATE INDEX assignments_to_review ON assignments (review_ms, id)
    WHERE review_ms IS NOT NULL;
CREATE INDEX reviews_by_hit ON reviews (hit, id);
CREATE INDEX messages_by_worker ON messages (worker, id);
CREATE INDEX events_by_requester ON events (requester, id);
CREATE INDEX deliveries_waiting ON deliveries (id) WHERE status = 'Waiting';
CREATE INDEX deliveries_by_event ON deliveries (event)
;
CREATE INDEX hits_by_type ON hits (hit_type, status, id, expires_ms);
CREATE INDEX events_by_end ON events (drop_ms);
COMMIT;
