-- The emulator's state. Money is in minor units, times are milliseconds
-- since 1970 (UTC). `number` keeps the order of insertion.

CREATE TABLE IF NOT EXISTS setting (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS workspace (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    available INTEGER NOT NULL CHECK (available >= 0)
) STRICT;

CREATE TABLE IF NOT EXISTS project (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    title TEXT NOT NULL,
    description TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS study (
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

CREATE TABLE IF NOT EXISTS participant (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    age INTEGER NOT NULL,
    approvals INTEGER NOT NULL,
    rejections INTEGER NOT NULL,
    answers TEXT NOT NULL
) STRICT;

-- Accounts that Prolific makes for a researcher to try studies with.
CREATE TABLE IF NOT EXISTS test_participant (
    number INTEGER PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    participant_id TEXT NOT NULL REFERENCES participant (id)
) STRICT;

CREATE TABLE IF NOT EXISTS submission (
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
CREATE INDEX IF NOT EXISTS submission_by_study ON submission (study_id, status);
CREATE INDEX IF NOT EXISTS submission_by_participant ON submission (participant_id, study_id);

CREATE TABLE IF NOT EXISTS participant_group (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    name TEXT NOT NULL,
    description TEXT,
    is_deleted INTEGER NOT NULL DEFAULT 0
) STRICT;

-- A row for each version. The newest is the filter set as it is.
CREATE TABLE IF NOT EXISTS filter_set (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    name TEXT NOT NULL,
    filters TEXT NOT NULL,
    is_locked INTEGER NOT NULL DEFAULT 0,
    is_deleted INTEGER NOT NULL DEFAULT 0,
    UNIQUE (id, version)
) STRICT;

CREATE TABLE IF NOT EXISTS membership (
    number INTEGER PRIMARY KEY,
    group_id TEXT NOT NULL REFERENCES participant_group (id),
    participant_id TEXT NOT NULL REFERENCES participant (id),
    created_ms INTEGER NOT NULL,
    UNIQUE (group_id, participant_id)
) STRICT;

CREATE TABLE IF NOT EXISTS bonus_batch (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    study_id TEXT NOT NULL REFERENCES study (id),
    created_ms INTEGER NOT NULL,
    pay_calls INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE IF NOT EXISTS bonus_line (
    number INTEGER PRIMARY KEY,
    batch_id TEXT NOT NULL REFERENCES bonus_batch (id),
    submission_id TEXT NOT NULL REFERENCES submission (id),
    amount INTEGER NOT NULL CHECK (amount > 0)
) STRICT;

-- One row for each line of each call of pay: a batch paid twice has two.
CREATE TABLE IF NOT EXISTS bonus_payment (
    number INTEGER PRIMARY KEY,
    batch_id TEXT NOT NULL REFERENCES bonus_batch (id),
    pay_call INTEGER NOT NULL,
    submission_id TEXT NOT NULL REFERENCES submission (id),
    amount INTEGER NOT NULL CHECK (amount > 0),
    paid_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS bonus_payment_by_submission ON bonus_payment (submission_id);

CREATE TABLE IF NOT EXISTS message (
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
CREATE TABLE IF NOT EXISTS ledger (
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
CREATE INDEX IF NOT EXISTS ledger_by_study ON ledger (study_id, target);

-- Webhooks: what they are signed with, who is called for what, and each call.
CREATE TABLE IF NOT EXISTS webhook_secret (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL UNIQUE REFERENCES workspace (id),
    value TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS subscription (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    event_type TEXT NOT NULL,
    target_url TEXT NOT NULL,
    confirmed_by TEXT NOT NULL,
    is_enabled INTEGER NOT NULL DEFAULT 0,
    failing_since_ms INTEGER
) STRICT;

CREATE TABLE IF NOT EXISTS event (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    subscription_id TEXT NOT NULL REFERENCES subscription (id) ON DELETE CASCADE,
    resource_id TEXT NOT NULL,
    payload TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'PENDING',
    tries INTEGER NOT NULL DEFAULT 0,
    next_ms INTEGER,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS event_to_send ON event (next_ms) WHERE next_ms IS NOT NULL;
CREATE INDEX IF NOT EXISTS event_by_subscription ON event (subscription_id, number);

-- The page that a submission was sent to, of a study with several.
CREATE TABLE IF NOT EXISTS allocation (
    submission_id TEXT PRIMARY KEY REFERENCES submission (id),
    url TEXT NOT NULL
) STRICT;

-- Keys that sign the addresses of studies.
CREATE TABLE IF NOT EXISTS signing_key (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    pem TEXT NOT NULL
) STRICT;

-- Files that programs were given an address to upload to. `kind` says what for.
CREATE TABLE IF NOT EXISTS upload (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    filename TEXT NOT NULL,
    expires_ms INTEGER NOT NULL,
    received_ms INTEGER,
    content BLOB
) STRICT;

-- User names and passwords. Each is given to at most one submission.
CREATE TABLE IF NOT EXISTS credential_pool (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL REFERENCES workspace (id)
) STRICT;

CREATE TABLE IF NOT EXISTS credential (
    number INTEGER PRIMARY KEY,
    pool_id TEXT NOT NULL REFERENCES credential_pool (id),
    username TEXT NOT NULL,
    password TEXT NOT NULL,
    submission_id TEXT UNIQUE REFERENCES submission (id),
    UNIQUE (pool_id, username)
) STRICT;

-- When a submission was decided.
CREATE TABLE IF NOT EXISTS review (
    submission_id TEXT PRIMARY KEY REFERENCES submission (id),
    at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS demographic_export (
    number INTEGER PRIMARY KEY,
    study_id TEXT NOT NULL REFERENCES study (id) ON DELETE CASCADE,
    filters TEXT NOT NULL
) STRICT;

-- Surveys that Prolific shows, and what was answered. `content` is JSON.
CREATE TABLE IF NOT EXISTS survey (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    researcher_id TEXT NOT NULL,
    content TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS survey_response (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    survey_id TEXT NOT NULL REFERENCES survey (id) ON DELETE CASCADE,
    content TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS survey_response_by_survey ON survey_response (survey_id);

-- Pages that Prolific shows, alike for all participants.
CREATE TABLE IF NOT EXISTS collection (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    name TEXT NOT NULL,
    task_details TEXT NOT NULL,
    pages TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    modified_ms INTEGER NOT NULL
) STRICT;

-- Rows of data that tasks are made of. Version 4 has a schema, version 3 has not.
CREATE TABLE IF NOT EXISTS dataset (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    name TEXT NOT NULL,
    fields TEXT,
    schema_number INTEGER NOT NULL DEFAULT 1,
    status TEXT NOT NULL DEFAULT 'UNINITIALISED',
    filename TEXT,
    created_ms INTEGER NOT NULL
) STRICT;

-- Files for a dataset, from when their address was asked for. `outcome` is JSON.
CREATE TABLE IF NOT EXISTS dataset_import (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    dataset_id TEXT NOT NULL REFERENCES dataset (id),
    upload_id TEXT NOT NULL UNIQUE REFERENCES upload (id),
    status TEXT NOT NULL DEFAULT 'uninitialised',
    outcome TEXT NOT NULL DEFAULT '{}',
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT;

-- `sent` is a record as it arrived, `content` what the schema makes of it.
CREATE TABLE IF NOT EXISTS datapoint (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    dataset_id TEXT NOT NULL REFERENCES dataset (id),
    sent TEXT NOT NULL,
    content TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS datapoint_by_content ON datapoint (dataset_id, sent);

CREATE TABLE IF NOT EXISTS schema_migration (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    dataset_id TEXT NOT NULL REFERENCES dataset (id),
    schema_number INTEGER NOT NULL,
    status TEXT NOT NULL DEFAULT 'processing',
    outcome TEXT NOT NULL DEFAULT '{}',
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT;

-- Tasks for participants: each row of a dataset with all questions of a batch.
CREATE TABLE IF NOT EXISTS batch (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    workspace_id TEXT NOT NULL REFERENCES workspace (id),
    name TEXT NOT NULL,
    task_details TEXT NOT NULL,
    dataset_id TEXT REFERENCES dataset (id),
    layout TEXT,
    instructions TEXT NOT NULL DEFAULT '[]',
    status TEXT NOT NULL DEFAULT 'UNINITIALISED',
    tasks_per_group INTEGER NOT NULL DEFAULT 1,
    auto_sync INTEGER,
    created_ms INTEGER NOT NULL
) STRICT;

-- What participants do together. `label` comes from the data, if that has groups.
CREATE TABLE IF NOT EXISTS task_group (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    batch_id TEXT NOT NULL REFERENCES batch (id),
    label TEXT
) STRICT;

CREATE TABLE IF NOT EXISTS task (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    batch_id TEXT NOT NULL REFERENCES batch (id),
    group_id TEXT NOT NULL REFERENCES task_group (id),
    datapoint_id TEXT NOT NULL REFERENCES datapoint (id),
    UNIQUE (batch_id, datapoint_id)
) STRICT;

CREATE TABLE IF NOT EXISTS group_assignment (
    submission_id TEXT PRIMARY KEY REFERENCES submission (id),
    group_id TEXT NOT NULL REFERENCES task_group (id)
) STRICT;

CREATE TABLE IF NOT EXISTS batch_sync (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    batch_id TEXT NOT NULL REFERENCES batch (id),
    dataset_id TEXT NOT NULL REFERENCES dataset (id),
    status TEXT NOT NULL DEFAULT 'queued',
    outcome TEXT NOT NULL DEFAULT '{}',
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT;

-- Answers on Prolific's own pages. `parent_id` is a collection or a batch.
CREATE TABLE IF NOT EXISTS task_response (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    parent_id TEXT NOT NULL,
    task_id TEXT,
    instruction_id TEXT NOT NULL,
    type TEXT NOT NULL,
    answer TEXT NOT NULL,
    submission_id TEXT NOT NULL REFERENCES submission (id),
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS task_response_by_parent ON task_response (parent_id);
CREATE INDEX IF NOT EXISTS task_response_by_submission ON task_response (submission_id);

-- Files with all answers of a collection or a batch. `content` is NULL until made.
CREATE TABLE IF NOT EXISTS export_job (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    subject TEXT NOT NULL,
    requested_ms INTEGER NOT NULL,
    content BLOB
) STRICT;

-- Scheduled events.
CREATE TABLE IF NOT EXISTS due (
    number INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS due_by_time ON due (at_ms, number);
