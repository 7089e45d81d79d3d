-- All tables of a marketplace. A column with a due time has a partial index, so that a
-- search for due work never scans HITs.

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
    created_ms INTEGER NOT NULL,
    -- Whether another market sends the worker (a participant), a visit at a time.
    comes_by_visits INTEGER NOT NULL DEFAULT 0 CHECK (comes_by_visits IN (0, 1))
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

-- Qualification tests: a new row for each version, so that a test is graded by the key
-- it was begun with.
CREATE TABLE tests (
    id INTEGER PRIMARY KEY,
    form TEXT NOT NULL,
    answer_key TEXT,
    duration_seconds INTEGER NOT NULL CHECK (duration_seconds > 0)
) STRICT;
-- The markets that send people here, in the order in which they were first served,
-- with their last prices (JSON). People from each do the HIT types that name it, and
-- people from the first one do those that name no market.
CREATE TABLE outside_markets (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    prices TEXT NOT NULL,
    -- Whether a bridge pays there; otherwise people are paid from a list.
    has_bridge INTEGER NOT NULL CHECK (has_bridge IN (0, 1))
) STRICT;

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
    test INTEGER REFERENCES tests (id),
    -- For a crowd or a filter of an outside market: its name. All people from that
    -- market count as holders.
    outside_market TEXT REFERENCES outside_markets (name),
    created_ms INTEGER NOT NULL,
    deleted_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX qualification_type_names
    ON qualification_types (requester, name) WHERE deleted_ms IS NULL;
CREATE INDEX qualification_types_requestable ON qualification_types (id)
    WHERE deleted_ms IS NULL AND is_requestable = 1 AND status = 'Active';
CREATE INDEX qualification_types_outside ON qualification_types (qualification_type_id)
    WHERE outside_market IS NOT NULL;
CREATE TABLE qualifications (
    id INTEGER PRIMARY KEY,
    qualification_type INTEGER NOT NULL REFERENCES qualification_types (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    value INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('Granted', 'Revoked')),
    granted_ms INTEGER NOT NULL,
    -- When and why it was revoked; empty while it is granted.
    revoked_ms INTEGER,
    reason TEXT,
    UNIQUE (qualification_type, worker)
) STRICT;
CREATE INDEX qualifications_by_status
    ON qualifications (qualification_type, status, id);
CREATE INDEX qualifications_by_worker ON qualifications (worker);
-- What workers wrote about a qualification that they lost or were refused, or once about a
-- rejected assignment, with the requester's reason at that time.
CREATE TABLE objections (
    id INTEGER PRIMARY KEY,
    qualification_type INTEGER REFERENCES qualification_types (id),
    assignment INTEGER UNIQUE REFERENCES assignments (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    reason TEXT,
    text TEXT NOT NULL,
    made_ms INTEGER NOT NULL,
    CHECK ((qualification_type IS NULL) <> (assignment IS NULL))
) STRICT;
CREATE INDEX objections_by_worker ON objections (worker, qualification_type, id);
CREATE TABLE qualification_requests (
    id INTEGER PRIMARY KEY,
    qualification_request_id TEXT NOT NULL UNIQUE,
    qualification_type INTEGER NOT NULL REFERENCES qualification_types (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    status TEXT NOT NULL CHECK (status IN ('Pending', 'Granted', 'Rejected')),
    reason TEXT,
    requested_ms INTEGER NOT NULL,
    test INTEGER REFERENCES tests (id),
    answer TEXT
) STRICT;
CREATE UNIQUE INDEX qualification_requests_pending
    ON qualification_requests (qualification_type, worker) WHERE status = 'Pending';
CREATE INDEX qualification_requests_by_worker
    ON qualification_requests (worker, qualification_type, id);
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
    -- How long a HIT of the type is expected to take, as its requester last stated.
    expected_seconds INTEGER CHECK (expected_seconds > 0),
    -- Whom to recruit at another market beyond the requirements (JSON).
    recruiting TEXT,
    -- The outside market that the requirements name; '' leaves it to the first one.
    market TEXT NOT NULL DEFAULT '',
    assignable_hits INTEGER NOT NULL CHECK (assignable_hits >= 0),
    created_ms INTEGER NOT NULL,
    deleted_ms INTEGER,
    UNIQUE (requester, fingerprint)
) STRICT;
CREATE INDEX hit_types_with_work ON hit_types (id) WHERE assignable_hits > 0;
-- One worker does at most so many HITs of all types with a limit of this name.
CREATE TABLE hit_type_limits (
    hit_type INTEGER NOT NULL REFERENCES hit_types (id),
    name TEXT NOT NULL,
    most INTEGER NOT NULL CHECK (most > 0),
    is_of_batch INTEGER NOT NULL CHECK (is_of_batch IN (0, 1)),
    PRIMARY KEY (hit_type, name)
) STRICT, WITHOUT ROWID;
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
    review_ms INTEGER,
    annotation TEXT,
    assignment_policy TEXT,
    hit_policy TEXT,
    is_apart INTEGER NOT NULL DEFAULT 0 CHECK (is_apart IN (0, 1)),
    CHECK (accepted + submitted + approved + rejected <= max_assignments)
) STRICT;
CREATE INDEX hits_alive ON hits (requester, id) WHERE status <> 'Disposed';
CREATE INDEX hits_by_status ON hits (requester, status, id);
-- Finds the next HIT of a type without reading expired ones.
CREATE INDEX hits_by_type ON hits (hit_type, status, id, expires_ms);
CREATE INDEX hits_expiring ON hits (expires_ms) WHERE is_expired = 0;
CREATE INDEX hits_disposing ON hits (dispose_ms) WHERE dispose_ms IS NOT NULL;
CREATE INDEX hits_to_review ON hits (review_ms, id) WHERE review_ms IS NOT NULL;
CREATE INDEX hits_apart ON hits (hit_type, status) WHERE is_apart = 1;
CREATE INDEX hits_by_free_slots ON hits
    (hit_type, max_assignments - accepted - submitted - approved - rejected DESC, id)
    WHERE status = 'Assignable';

-- A HIT's question is tens of kilobytes, and each step of each worker changes the HIT:
-- SQLite would read and write the question with every counter.
CREATE TABLE questions (
    hit INTEGER PRIMARY KEY REFERENCES hits (id),
    -- The question; with texts, a JSON list of the values between them.
    question TEXT NOT NULL,
    texts INTEGER REFERENCES question_texts (id)
) STRICT;
-- The texts of a long question that many HITs share (a JSON list).
CREATE TABLE question_texts (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    texts TEXT NOT NULL,
    made_ms INTEGER NOT NULL
) STRICT;
CREATE VIEW whole_questions (hit, question) AS
SELECT questions.hit, CASE WHEN questions.texts IS NULL THEN questions.question ELSE (
    -- Sorted, not joined: a join of two lists takes the square of their length.
    SELECT group_concat(part, '') FROM (
        SELECT value AS part, 2 * key AS place FROM json_each(question_texts.texts)
        UNION ALL SELECT value, 2 * key + 1 FROM json_each(questions.question)
        ORDER BY place
    )
) END
FROM questions LEFT JOIN question_texts ON question_texts.id = questions.texts;

-- HITs of which a worker may do only one; each pair is stored in both directions.
CREATE TABLE kept_apart (
    hit INTEGER NOT NULL REFERENCES hits (id),
    other INTEGER NOT NULL REFERENCES hits (id),
    PRIMARY KEY (hit, other)
) STRICT, WITHOUT ROWID;

-- Pages with gaps. A requester makes a HIT from a page and the values for its
-- gaps.
CREATE TABLE hit_layouts (
    id INTEGER PRIMARY KEY,
    layout_id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    html TEXT NOT NULL,
    frame_height INTEGER NOT NULL,
    made_ms INTEGER NOT NULL
) STRICT;

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
    review_ms INTEGER,
    paid_cents INTEGER NOT NULL DEFAULT 0,
    fee_cents INTEGER NOT NULL DEFAULT 0,
    feedback TEXT,
    answer TEXT,
    visit INTEGER REFERENCES visits (id),
    shown_ms INTEGER,
    answered_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX one_worker_does_a_hit_once ON assignments (hit, worker)
    WHERE status IN ('Accepted', 'Submitted', 'Approved', 'Rejected');
CREATE INDEX assignments_by_worker ON assignments (worker, hit);
CREATE INDEX assignments_by_hit ON assignments (hit, submitted_ms, id);
CREATE INDEX assignments_running ON assignments (deadline_ms)
    WHERE status = 'Accepted';
CREATE INDEX assignments_held ON assignments (worker)
    WHERE status = 'Accepted';
CREATE INDEX assignments_undecided ON assignments (auto_approve_ms)
    WHERE status = 'Submitted';
CREATE INDEX assignments_to_review ON assignments (review_ms, id)
    WHERE review_ms IS NOT NULL;
CREATE INDEX assignments_by_visit ON assignments (visit, id) WHERE visit IS NOT NULL;

-- A compensation is a bonus without an assignment. It has its requester's own name for
-- it, and a visit if another market pays the worker.
CREATE TABLE bonuses (
    id INTEGER PRIMARY KEY,
    assignment INTEGER REFERENCES assignments (id),
    hit INTEGER REFERENCES hits (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    requester INTEGER REFERENCES requesters (id),
    name TEXT,
    paid_visit INTEGER REFERENCES visits (id),
    cents INTEGER NOT NULL,
    fee_cents INTEGER NOT NULL,
    reason TEXT NOT NULL,
    paid_ms INTEGER NOT NULL,
    CHECK ((assignment IS NULL) = (hit IS NULL)),
    CHECK ((assignment IS NULL) = (requester IS NOT NULL AND name IS NOT NULL)),
    CHECK (paid_visit IS NULL OR assignment IS NULL),
    UNIQUE (requester, name)
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

-- Requesters' signing keys.

CREATE TABLE access_keys (
    id INTEGER PRIMARY KEY,
    access_key TEXT NOT NULL UNIQUE,
    requester INTEGER NOT NULL REFERENCES requesters (id),
    secret TEXT,
    made_ms INTEGER NOT NULL,
    revoked_ms INTEGER,
    CHECK ((secret IS NULL) = (revoked_ms IS NOT NULL))
) STRICT;

-- Links that sign workers in, and the sessions that they open. A session is a row, so
-- that its end (signing out, its time, a revoked invitation) takes effect at the next
-- request, which a signed cookie does not allow.

CREATE TABLE invitations (
    id INTEGER PRIMARY KEY,
    invitation_id TEXT NOT NULL UNIQUE,
    worker INTEGER NOT NULL REFERENCES workers (id),
    made_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    revoked_ms INTEGER,
    -- The fingerprint of the e-mail address for which it is; empty for any person.
    email_hash TEXT
) STRICT;
CREATE INDEX invitations_by_worker ON invitations (worker);
CREATE INDEX invitations_by_email ON invitations (email_hash)
    WHERE email_hash IS NOT NULL;
-- Fingerprints of accounts at a provider, by which workers sign in.
CREATE TABLE worker_identities (
    identity_hash TEXT PRIMARY KEY,
    worker INTEGER NOT NULL UNIQUE REFERENCES workers (id),
    made_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE worker_sessions (
    key_hash TEXT PRIMARY KEY,
    worker INTEGER NOT NULL REFERENCES workers (id),
    invitation INTEGER REFERENCES invitations (id),
    token_hash TEXT,
    -- The visit of a participant of another market: the session opens nothing else.
    visit INTEGER REFERENCES visits (id),
    started_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    CHECK ((invitation IS NULL) <> (token_hash IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX worker_sessions_by_worker ON worker_sessions (worker);
CREATE INDEX worker_sessions_by_age ON worker_sessions (expires_ms);
CREATE INDEX worker_sessions_by_visit ON worker_sessions (visit)
    WHERE visit IS NOT NULL;

-- Links for a class or a team to join: each person who joins becomes a separate
-- worker, until all places are taken. The limit is a constraint, so it holds for
-- people who join at the same time.
CREATE TABLE open_links (
    id INTEGER PRIMARY KEY,
    link_id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    country TEXT NOT NULL,
    subdivision TEXT,
    is_adult INTEGER NOT NULL,
    places INTEGER NOT NULL CHECK (places > 0),
    taken INTEGER NOT NULL DEFAULT 0 CHECK (taken BETWEEN 0 AND places),
    completion_code TEXT NOT NULL,
    completion_hits INTEGER NOT NULL CHECK (completion_hits > 0),
    made_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    closed_ms INTEGER
) STRICT;
CREATE TABLE joined_workers (
    worker INTEGER PRIMARY KEY REFERENCES workers (id),
    open_link INTEGER NOT NULL REFERENCES open_links (id),
    joined_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX joined_workers_by_link ON joined_workers (open_link);

-- What workers agreed to, and when: the text itself, since it may change later.
CREATE TABLE consent_texts (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL
) STRICT;
CREATE TABLE consents (
    worker INTEGER NOT NULL REFERENCES workers (id),
    consent_text INTEGER NOT NULL REFERENCES consent_texts (id),
    agreed_ms INTEGER NOT NULL,
    PRIMARY KEY (worker, consent_text)
) STRICT, WITHOUT ROWID;

-- Workers' reports of problems with HITs, for the requester.
CREATE TABLE reported_problems (
    id INTEGER PRIMARY KEY,
    assignment INTEGER NOT NULL REFERENCES assignments (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    text TEXT NOT NULL,
    reported_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX reported_problems_by_worker ON reported_problems (worker, reported_ms);

-- Results of review policies, messages to workers, events and their delivery.

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
    sent_ms INTEGER NOT NULL,
    -- How far it was passed on to the worker's own market.
    sent_there TEXT CHECK (sent_there IN ('Sending', 'Sent', 'Unknown', 'Refused'))
) STRICT;
CREATE INDEX messages_by_worker ON messages (worker, id);
CREATE INDEX messages_to_send ON messages (id) WHERE sent_there IS NULL;

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
    assignment_id TEXT,
    -- Events are kept for 30 days, or for 120 if they have a message.
    drop_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX events_by_requester ON events (requester, id);
CREATE INDEX events_by_end ON events (drop_ms);
CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY,
    event INTEGER NOT NULL REFERENCES events (id),
    transport TEXT NOT NULL,
    destination TEXT NOT NULL,
    document TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('Waiting', 'Delivered', 'Failed')),
    tries INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX deliveries_waiting ON deliveries (id, destination) WHERE status = 'Waiting';
CREATE INDEX deliveries_given_up ON deliveries (id) WHERE status = 'Failed';
CREATE INDEX deliveries_by_event ON deliveries (event);

-- Workers of another market (participants). They come through a study there, do
-- several HITs in each visit, and are paid there. The tables above store a requester's
-- calls about them; these tables state how far the calls were carried out there. A study with a qualification type is a screening: its
-- visits take that type's test instead of HITs.

CREATE TABLE participants (
    worker INTEGER PRIMARY KEY REFERENCES workers (id),
    market TEXT NOT NULL REFERENCES outside_markets (name),
    participant_id TEXT NOT NULL,
    UNIQUE (market, participant_id)
) STRICT;

CREATE TABLE studies (
    id INTEGER PRIMARY KEY,
    hit_type INTEGER NOT NULL REFERENCES hit_types (id),
    qualification_type INTEGER REFERENCES qualification_types (id),
    market TEXT NOT NULL REFERENCES outside_markets (name),
    internal_name TEXT NOT NULL UNIQUE,
    study_id TEXT UNIQUE,
    status TEXT NOT NULL,
    stage TEXT NOT NULL CHECK (stage IN ('Wanted', 'Draft', 'Published', 'Retired')),
    hits_per_visit INTEGER NOT NULL
        CHECK ((hits_per_visit = 0) = (qualification_type IS NOT NULL)),
    currency TEXT NOT NULL,
    reward_cents INTEGER NOT NULL CHECK (reward_cents > 0),
    cost_cents INTEGER,
    minutes INTEGER NOT NULL CHECK (minutes > 0),
    most_minutes INTEGER NOT NULL CHECK (most_minutes >= minutes),
    places INTEGER NOT NULL CHECK (places > 0),
    code TEXT NOT NULL UNIQUE,
    own_code TEXT NOT NULL UNIQUE,
    -- Whether the other market accepted a code that only the bridge enters.
    has_own_code INTEGER NOT NULL DEFAULT 1 CHECK (has_own_code IN (0, 1)),
    keep_out_group TEXT,
    let_in_group TEXT,
    -- What the study promises participants who find no work, if the other market
    -- pays them: the code, the amount, its cost, and how often.
    screen_out_code TEXT,
    screen_out_cents INTEGER NOT NULL DEFAULT 0,
    screen_out_cost_cents INTEGER NOT NULL DEFAULT 0,
    screen_out_slots INTEGER NOT NULL DEFAULT 0,
    -- Why it stopped recruiting there: the bridge paused or stopped it, all places were
    -- filled, or the market does not let it recruit again. Empty while it recruits, and if
    -- a person paused or stopped it there.
    halted_by TEXT NOT NULL DEFAULT ''
        CHECK (halted_by IN ('', 'Bridge', 'Places', 'Market')),
    -- How many people the other market counted as eligible; empty if it was not asked.
    -- A small number counts as 0.
    eligible INTEGER,
    -- How many calls to create it the other market refused.
    refusals INTEGER NOT NULL DEFAULT 0,
    -- How many submissions were undecided there when the study was last read.
    undecided INTEGER NOT NULL DEFAULT 0,
    -- How many of them had ended and then freed their place by then.
    freed INTEGER NOT NULL DEFAULT 0,
    -- Its submissions there whose visit had not begun here by then: status by id, as JSON.
    not_begun TEXT NOT NULL DEFAULT '{}',
    -- What bonuses of the study have cost there beyond these books, with fees and tax.
    unbooked_bonus_cents INTEGER NOT NULL DEFAULT 0,
    trouble TEXT NOT NULL DEFAULT '',
    made_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX one_screening_at_a_time ON studies (qualification_type)
    WHERE qualification_type IS NOT NULL AND stage <> 'Retired';
CREATE INDEX studies_by_hit_type ON studies (hit_type, id);
CREATE INDEX studies_at_work ON studies (id) WHERE stage <> 'Retired';

CREATE TABLE visits (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (id),
    worker INTEGER NOT NULL REFERENCES workers (id),
    -- The market of the study: each market makes ids of its own, and a link may say any.
    market TEXT NOT NULL REFERENCES outside_markets (name),
    submission_id TEXT NOT NULL,
    stage TEXT NOT NULL
        CHECK (stage IN ('Open', 'Done', 'Left', 'Late', 'TurnedAway')),
    began_ms INTEGER NOT NULL,
    deadline_ms INTEGER NOT NULL,
    closed_ms INTEGER,
    status TEXT NOT NULL,
    return_asked_ms INTEGER,
    outcome TEXT CHECK (outcome IN ('Paid', 'PaidByBonus', 'Rejected', 'Gone')),
    settled_cents INTEGER NOT NULL DEFAULT 0,
    -- The promise to a participant who came and found no work.
    screen_out_cents INTEGER NOT NULL DEFAULT 0,
    -- Whether the answers of a visit that ended by its study's code are lost. A
    -- suspected loss waits for a person; a confirmed one is paid.
    loss TEXT NOT NULL DEFAULT '' CHECK (loss IN ('', 'Suspected', 'Stated')),
    trouble TEXT NOT NULL DEFAULT '',
    UNIQUE (market, submission_id),
    CHECK ((stage = 'Open') = (closed_ms IS NULL))
) STRICT;
CREATE INDEX visits_by_study ON visits (study, id);
CREATE INDEX visits_by_worker ON visits (worker, id);
CREATE INDEX visits_without_outcome ON visits (study, id) WHERE outcome IS NULL;

-- Links with which participants continue a visit in another browser, each once. The
-- other market delivers them, so only the participant has them.
CREATE TABLE visit_links (
    id INTEGER PRIMARY KEY,
    visit INTEGER NOT NULL REFERENCES visits (id),
    key_hash TEXT NOT NULL UNIQUE,
    made_ms INTEGER NOT NULL,
    used_ms INTEGER
) STRICT;
CREATE INDEX visit_links_by_visit ON visit_links (visit, id);

CREATE TABLE bonus_batches (
    id INTEGER PRIMARY KEY,
    study INTEGER NOT NULL REFERENCES studies (id),
    stage TEXT NOT NULL CHECK (stage IN ('Wanted', 'Made', 'Paying', 'Paid')),
    batch_id TEXT UNIQUE,
    total_cents INTEGER,
    paying_ms INTEGER,
    trouble TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX bonus_batches_at_work ON bonus_batches (id) WHERE stage <> 'Paid';
CREATE TABLE bonus_lines (
    id INTEGER PRIMARY KEY,
    visit INTEGER NOT NULL REFERENCES visits (id),
    bonus INTEGER UNIQUE REFERENCES bonuses (id),
    cents INTEGER NOT NULL CHECK (cents > 0),
    batch INTEGER REFERENCES bonus_batches (id),
    paid_before TEXT,
    -- Amounts (JSON) of bonuses of a submission that a person said are not this one.
    -- Another bonus of the submission may still be among them, so the submission cannot
    -- keep them.
    other_bonuses TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE INDEX rewards_by_bonus ON bonus_lines (visit) WHERE bonus IS NULL;
CREATE INDEX bonus_lines_waiting ON bonus_lines (visit) WHERE batch IS NULL;
CREATE INDEX bonus_lines_by_batch ON bonus_lines (batch, id);

-- Lists for panels, which pay from a file. A list and its lines are stored before its
-- file is written, so that an interrupted list is written again with the same lines.
-- The record beside this file has each list by its key, which no copy repeats.
CREATE TABLE pay_lists (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE DEFAULT (lower(hex(randomblob(8)))),
    panel TEXT NOT NULL,
    file TEXT NOT NULL,
    made_ms INTEGER NOT NULL,
    written_ms INTEGER
) STRICT;
CREATE TABLE pay_list_lines (
    id INTEGER PRIMARY KEY,
    list INTEGER NOT NULL REFERENCES pay_lists (id),
    visit INTEGER NOT NULL REFERENCES visits (id),
    bonus INTEGER UNIQUE REFERENCES bonuses (id),
    -- A correction pays what was approved after the visit was listed.
    kind TEXT NOT NULL CHECK (kind IN ('visit', 'correction', 'bonus')),
    cents INTEGER NOT NULL CHECK (cents >= 0),
    CHECK ((kind = 'bonus') = (bonus IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX visits_are_listed_once ON pay_list_lines (visit)
    WHERE kind = 'visit';
CREATE INDEX pay_list_lines_by_visit ON pay_list_lines (visit);
CREATE INDEX pay_list_lines_by_list ON pay_list_lines (list, id);

-- Lists of the record that this file lacks, and that a person has compared.
CREATE TABLE compared_pay_lists (key TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- A restored copy of this file does not know what happened after the copy was made.
-- This table has studies that the other market shows and this file does not have,
-- until a person decides about each.
CREATE TABLE unknown_studies (
    study_id TEXT PRIMARY KEY,
    market TEXT NOT NULL REFERENCES outside_markets (name),
    internal_name TEXT NOT NULL,
    status TEXT NOT NULL,
    places INTEGER NOT NULL,
    submissions INTEGER NOT NULL,
    spent_cents INTEGER NOT NULL,
    held_cents INTEGER NOT NULL,
    is_left INTEGER NOT NULL DEFAULT 0 CHECK (is_left IN (0, 1))
) STRICT;

-- A word that all copies of this file share, but no other marketplace's file.
CREATE TABLE identity (word TEXT NOT NULL) STRICT;
INSERT INTO identity (word) VALUES (lower(hex(randomblob(4))));

-- Each start of a server begins a generation. With the number of committed changes it
-- marks a state of this file, which distinguishes a restored copy from the file itself.
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

-- How many rows are in each state, for programs that watch the marketplace: counting
-- them would take longer with each assignment. Rows of these tables are never deleted.
CREATE TABLE state_totals (
    counted TEXT NOT NULL,
    state TEXT NOT NULL,
    number INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (counted, state)
) STRICT, WITHOUT ROWID;
INSERT INTO state_totals (counted, state) VALUES
('assignments', 'Accepted'), ('assignments', 'Submitted'), ('assignments', 'Approved'),
('assignments', 'Rejected'), ('assignments', 'Returned'), ('assignments', 'Abandoned'),
('hits', 'Assignable'), ('hits', 'Unassignable'), ('hits', 'Reviewable'),
('hits', 'Reviewing'), ('hits', 'Disposed'),
('visits', 'Open'), ('visits', 'Done'), ('visits', 'Left'), ('visits', 'Late'),
('visits', 'TurnedAway');
CREATE TRIGGER assignments_added AFTER INSERT ON assignments BEGIN
    UPDATE state_totals SET number = number + 1
        WHERE counted = 'assignments' AND state = NEW.status;
END;
CREATE TRIGGER assignments_moved AFTER UPDATE OF status ON assignments
    WHEN OLD.status <> NEW.status BEGIN
    UPDATE state_totals SET number = number + iif(state = NEW.status, 1, -1)
        WHERE counted = 'assignments' AND state IN (OLD.status, NEW.status);
END;
CREATE TRIGGER hits_added AFTER INSERT ON hits BEGIN
    UPDATE state_totals SET number = number + 1
        WHERE counted = 'hits' AND state = NEW.status;
END;
CREATE TRIGGER hits_moved AFTER UPDATE OF status ON hits
    WHEN OLD.status <> NEW.status BEGIN
    UPDATE state_totals SET number = number + iif(state = NEW.status, 1, -1)
        WHERE counted = 'hits' AND state IN (OLD.status, NEW.status);
END;
CREATE TRIGGER visits_added AFTER INSERT ON visits BEGIN
    UPDATE state_totals SET number = number + 1
        WHERE counted = 'visits' AND state = NEW.stage;
END;
CREATE TRIGGER visits_moved AFTER UPDATE OF stage ON visits
    WHEN OLD.stage <> NEW.stage BEGIN
    UPDATE state_totals SET number = number + iif(state = NEW.stage, 1, -1)
        WHERE counted = 'visits' AND state IN (OLD.stage, NEW.stage);
END;
