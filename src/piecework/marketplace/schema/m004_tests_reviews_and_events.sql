-- Qualification tests (a new row for each version, so that a test is graded by the key
-- it was begun with), attempts at them, review policies, messages to workers, events and
-- their delivery.

CREATE TABLE tests (
    id INTEGER PRIMARY KEY,
    form TEXT NOT NULL,
    answer_key TEXT,
    duration_seconds INTEGER NOT NULL CHECK (duration_seconds > 0)
) STRICT;
ALTER TABLE qualification_types ADD COLUMN test INTEGER REFERENCES tests (id);
CREATE INDEX qualification_types_requestable ON qualification_types (id)
    WHERE deleted_ms IS NULL AND is_requestable = 1 AND status = 'Active';
ALTER TABLE qualification_requests ADD COLUMN test INTEGER REFERENCES tests (id);
ALTER TABLE qualification_requests ADD COLUMN answer TEXT;
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
CREATE UNIQUE INDEX one_attempt_at_a_time ON test_attempts (worker, qualification_type)
    WHERE status = 'Open';
CREATE INDEX test_attempts_by_worker ON test_attempts (worker, qualification_type, id);
CREATE INDEX test_attempts_running ON test_attempts (deadline_ms)
    WHERE status = 'Open';

ALTER TABLE hit_types ADD COLUMN deleted_ms INTEGER;
ALTER TABLE hits ADD COLUMN assignment_policy TEXT;
ALTER TABLE hits ADD COLUMN hit_policy TEXT;
ALTER TABLE hits ADD COLUMN review_ms INTEGER;
CREATE INDEX hits_to_review ON hits (review_ms, id) WHERE review_ms IS NOT NULL;
ALTER TABLE assignments ADD COLUMN review_ms INTEGER;
CREATE INDEX assignments_to_review ON assignments (review_ms, id)
    WHERE review_ms IS NOT NULL;
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
CREATE INDEX reviews_by_hit ON reviews (hit, id);

CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    worker INTEGER NOT NULL REFERENCES workers (id),
    requester INTEGER NOT NULL REFERENCES requesters (id),
    subject TEXT NOT NULL,
    text TEXT NOT NULL,
    sent_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX messages_by_worker ON messages (worker, id);

CREATE TABLE notification_settings (
    hit_type INTEGER PRIMARY KEY REFERENCES hit_types (id),
    destination TEXT NOT NULL,
    transport TEXT NOT NULL CHECK (transport IN ('SQS', 'SNS')),
    version TEXT NOT NULL,
    event_types TEXT NOT NULL,
    is_active INTEGER NOT NULL CHECK (is_active IN (0, 1))
) STRICT;
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    requester INTEGER NOT NULL REFERENCES requesters (id),
    event_type TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    hit_type_id TEXT,
    hit_id TEXT,
    assignment_id TEXT
) STRICT;
CREATE INDEX events_by_requester ON events (requester, id);
CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY,
    event INTEGER NOT NULL REFERENCES events (id),
    transport TEXT NOT NULL,
    destination TEXT NOT NULL,
    document TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('Waiting', 'Delivered', 'Failed')),
    tries INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX deliveries_waiting ON deliveries (id) WHERE status = 'Waiting';
CREATE INDEX deliveries_by_event ON deliveries (event);
