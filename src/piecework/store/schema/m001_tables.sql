-- All tables of a campaign's store.
--
-- Totals that passes need are stored, not added up each time: verdicts beside their
-- subjects, accepted answers beside their items, balances beside the ledger, and counts
-- of HITs, items and verdicts. Triggers update them in the transaction that changes the data.

-- What the store is bound to. A column is empty until it is set, and then never changes
-- (`piecework.store.bound`).
CREATE TABLE bound (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    -- The store's own name, under which the platform knows its intents.
    name TEXT,
    -- The key of all pseudonyms, in hexadecimal digits.
    pseudonym_key TEXT,
    -- The campaign's name.
    campaign TEXT,
    -- The endpoint of a marketplace, a rehearsal with its seed, or "imported".
    environment TEXT,
    -- The currency of all amounts.
    currency TEXT,
    -- Digest of the items' ids and of how they are dealt.
    work_digest TEXT,
    -- Digest of the items' columns, which workers were shown.
    columns_digest TEXT,
    -- Digest of the files of the requester's own task.
    task_digest TEXT,
    -- Digest of what identifies an item in imported files.
    imported_items_digest TEXT,
    -- The requester's account, as a marketplace with marks names it.
    account TEXT,
    -- The name that this store claimed the campaign with: no other store began it.
    claimed_as TEXT
) STRICT;
INSERT INTO bound (only_row) VALUES (1);

-- What was dealt: settings, digests of a task's files by name, as JSON, and of each item
-- by column, as JSON. So a later change can be named.
CREATE TABLE dealt (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    task TEXT NOT NULL,
    batches INTEGER NOT NULL,
    assignments TEXT NOT NULL,
    items_per_hit INTEGER NOT NULL,
    task_files TEXT NOT NULL
) STRICT;
CREATE TABLE dealt_items (
    item_id TEXT PRIMARY KEY,
    digest TEXT NOT NULL
) STRICT;

-- Rows of a source that grows, as items. `batch` is empty while a row waits, and set in
-- the transaction that plans its HITs. An item whose row changed or disappeared has
-- another state than 'current'. The versions of a row share its `row_id`.
CREATE TABLE source_items (
    number INTEGER PRIMARY KEY,
    item_id TEXT NOT NULL UNIQUE,
    row_id TEXT NOT NULL,
    version INTEGER NOT NULL DEFAULT 1,
    columns TEXT NOT NULL,
    digest TEXT NOT NULL,
    is_gold INTEGER NOT NULL DEFAULT 0 CHECK (is_gold IN (0, 1)),
    first_seen TEXT NOT NULL,
    batch INTEGER,
    state TEXT NOT NULL DEFAULT 'current'
        CHECK (state IN ('current', 'withdrawn', 'replaced', 'unusable')),
    -- Why no page can show it.
    fault TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX source_items_by_row ON source_items (row_id, version);
CREATE INDEX source_items_waiting ON source_items (is_gold, number)
    WHERE batch IS NULL AND state = 'current';
CREATE INDEX source_items_dealt ON source_items (batch, number)
    WHERE batch IS NOT NULL;
CREATE INDEX source_items_unusable ON source_items (first_seen)
    WHERE state = 'unusable';

-- The last reading of the source (`piecework.store.source`).
CREATE TABLE source_reading (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    -- Grows with each reading.
    number INTEGER NOT NULL DEFAULT 0,
    -- What the source looked like; empty if it has to be read again.
    fingerprint TEXT,
    -- How far it was read.
    watermark TEXT NOT NULL DEFAULT '',
    -- Its columns at the first reading, as JSON; empty if rows may differ.
    header TEXT,
    read_at TEXT,
    -- The first reading; a rehearsal counts days from it.
    began_at TEXT,
    -- Why it could not be read, or part of it was left out.
    fault TEXT NOT NULL DEFAULT '',
    unfinished TEXT NOT NULL DEFAULT '',
    -- Changes of items that were dealt, and rows that disappeared, so far.
    changed INTEGER NOT NULL DEFAULT 0,
    withdrawn INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO source_reading (only_row) VALUES (1);

-- Rows that cannot be used, by their place in the source.
CREATE TABLE source_quarantine (
    located TEXT PRIMARY KEY,
    row_id TEXT NOT NULL,
    fault TEXT NOT NULL,
    reading INTEGER NOT NULL,
    seen_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- How many rows arrived and how many were dealt, by UTC day and by batch.
CREATE TABLE source_days (
    day TEXT PRIMARY KEY,
    arrived INTEGER NOT NULL DEFAULT 0,
    dealt INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE source_batches (
    batch INTEGER PRIMARY KEY,
    items INTEGER NOT NULL
) STRICT;
CREATE TRIGGER days_of_arrivals
AFTER INSERT ON source_items WHEN new.is_gold = 0 BEGIN
    INSERT INTO source_days (day, arrived) VALUES (substr(new.first_seen, 1, 10), 1)
        ON CONFLICT (day) DO UPDATE SET arrived = arrived + 1;
END;

-- Notes of passes for later passes (`piecework.store.campaign_facts`).
CREATE TABLE pass_notes (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    -- Digest of everything that the last judging depended on.
    judging_digest TEXT,
    -- Digest of the prices and caps that were last found to fit.
    caps_digest TEXT,
    -- Digest of the requester's own task when all its pages were rendered.
    rendered_task_digest TEXT,
    -- Digest of the task by which imported answers were typed.
    typing_digest TEXT,
    -- Digest of the labels of models in the last pass.
    models_digest TEXT,
    -- How many approvals there were when a sample of them was last checked.
    verified_approvals INTEGER,
    -- When a qualification type of excluded workers was last found deleted.
    exclusion_lost_at TEXT,
    -- Visits and bonuses that another market had not settled at the last check.
    outside_unsettled INTEGER NOT NULL DEFAULT 0,
    -- Markets that refused HITs in the last pass, as JSON: why, by market.
    refused_markets TEXT NOT NULL DEFAULT '{}',
    -- Whether HITs of this store may be on the platform and not in the store.
    is_adopting INTEGER NOT NULL DEFAULT 0 CHECK (is_adopting IN (0, 1)),
    -- The last batch that was settled when a campaign that grows wrote its results.
    exported_batch INTEGER NOT NULL DEFAULT 0,
    -- Path of the campaign file of the last pass, on the machine that made it.
    campaign_file TEXT
) STRICT;
INSERT INTO pass_notes (only_row) VALUES (1);

-- What passes used, a row for each change (`piecework.store.campaign_facts`): the campaign
-- file's text, the text with what that leaves out, and as JSON the sha256 of each input.
CREATE TABLE used_inputs (
    number INTEGER PRIMARY KEY,
    since TEXT NOT NULL,
    file_text TEXT NOT NULL,
    complete_text TEXT NOT NULL,
    digests TEXT NOT NULL
) STRICT;

-- The prices that the marketplace stated last; empty if it states none.
CREATE TABLE marketplace_prices (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    currency TEXT NOT NULL,
    least_per_hour_cents INTEGER NOT NULL,
    longest_approval_seconds INTEGER NOT NULL,
    percent TEXT NOT NULL,
    extra_percent_for_many TEXT NOT NULL,
    masters_percent TEXT NOT NULL,
    minimum_cents INTEGER NOT NULL,
    source TEXT NOT NULL,
    -- The prices of each crowd that the marketplace lets in, as JSON.
    crowds TEXT NOT NULL DEFAULT '[]'
) STRICT;

-- Types that were created on the platform, each once. `subject` is a digest of the values
-- of a HIT type or a test, or the key of the HIT with the items that a qualification's
-- holders have answered, or the name of an earned qualification or of an exclusion.
CREATE TABLE platform_types (
    purpose TEXT NOT NULL
        CHECK (purpose IN ('hit type', 'exclusion', 'test', 'answered', 'earned')),
    subject TEXT NOT NULL DEFAULT '',
    type_id TEXT NOT NULL,
    PRIMARY KEY (purpose, subject)
) STRICT, WITHOUT ROWID;

-- The traits of a rehearsal's workers, and whether each means bad work.
CREATE TABLE simulated_workers (
    worker_id TEXT PRIMARY KEY,
    trait TEXT NOT NULL,
    is_bad INTEGER NOT NULL CHECK (is_bad IN (0, 1))
) STRICT, WITHOUT ROWID;

-- HITs as they were planned, posted and collected. Slots that are added to a HIT have a
-- separate row, which names the HIT in `extends` and never has a `hit_id`.
CREATE TABLE hits (
    hit_key TEXT PRIMARY KEY,
    batch INTEGER NOT NULL,
    round INTEGER NOT NULL,
    max_assignments INTEGER NOT NULL CHECK (max_assignments > 0),
    reward_cents INTEGER NOT NULL CHECK (reward_cents >= 0),
    fee_cents INTEGER NOT NULL CHECK (fee_cents >= 0),
    item_ids TEXT NOT NULL,
    -- The page that an experiment chose; '' without one.
    arm TEXT NOT NULL DEFAULT '',
    -- The market whose workers do it; '' without [markets].
    market TEXT NOT NULL DEFAULT '',
    extends TEXT REFERENCES hits (hit_key),
    hit_type_id TEXT,
    hit_id TEXT UNIQUE,
    posted_at TEXT,
    -- As it was posted: for how long it may be taken, how long its work may last, and after
    -- what time the platform approves its work.
    lifetime_seconds INTEGER NOT NULL DEFAULT 0,
    duration_seconds INTEGER NOT NULL DEFAULT 0,
    auto_approval_seconds INTEGER NOT NULL DEFAULT 0,
    -- When an open HIT was last checked for new answers.
    looked_at TEXT,
    collected_at TEXT
) STRICT;
CREATE INDEX hits_by_batch ON hits (batch, round);
CREATE INDEX hits_extended ON hits (extends) WHERE extends IS NOT NULL;
CREATE INDEX hits_unposted ON hits (batch) WHERE posted_at IS NULL;
CREATE INDEX hits_uncollected ON hits (hit_id) WHERE collected_at IS NULL;

-- HITs by batch, round and state: planned, open, collected, or slots that were added.
CREATE TABLE hit_counts (
    batch INTEGER NOT NULL,
    round INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('planned', 'added', 'open', 'collected')),
    hits INTEGER NOT NULL,
    PRIMARY KEY (batch, round, state)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER counts_of_hits_inserted AFTER INSERT ON hits BEGIN
    INSERT INTO hit_counts (batch, round, state, hits) VALUES (
        new.batch, new.round, CASE WHEN new.posted_at IS NULL THEN 'planned' WHEN new.hit_id IS NULL THEN 'added'
        WHEN new.collected_at IS NULL THEN 'open' ELSE 'collected' END, 1
    ) ON CONFLICT (batch, round, state) DO UPDATE SET hits = hits + 1;
END;
CREATE TRIGGER counts_of_hits_updated
AFTER UPDATE OF posted_at, hit_id, collected_at ON hits BEGIN
    UPDATE hit_counts SET hits = hits - 1
    WHERE batch = old.batch AND round = old.round AND state =
        CASE WHEN old.posted_at IS NULL THEN 'planned' WHEN old.hit_id IS NULL THEN 'added'
        WHEN old.collected_at IS NULL THEN 'open' ELSE 'collected' END;
    DELETE FROM hit_counts WHERE batch = old.batch AND round = old.round AND hits = 0;
    INSERT INTO hit_counts (batch, round, state, hits) VALUES (
        new.batch, new.round, CASE WHEN new.posted_at IS NULL THEN 'planned' WHEN new.hit_id IS NULL THEN 'added'
        WHEN new.collected_at IS NULL THEN 'open' ELSE 'collected' END, 1
    ) ON CONFLICT (batch, round, state) DO UPDATE SET hits = hits + 1;
END;
CREATE TRIGGER counts_of_hits_deleted AFTER DELETE ON hits BEGIN
    UPDATE hit_counts SET hits = hits - 1
    WHERE batch = old.batch AND round = old.round AND state =
        CASE WHEN old.posted_at IS NULL THEN 'planned' WHEN old.hit_id IS NULL THEN 'added'
        WHEN old.collected_at IS NULL THEN 'open' ELSE 'collected' END;
    DELETE FROM hit_counts WHERE batch = old.batch AND round = old.round AND hits = 0;
END;

-- Outward acts that happen once. An intent is open until its outcome is known. Its key
-- is its name on the platform; queries use the other columns.
CREATE TABLE intents (
    intent_key TEXT PRIMARY KEY,
    operation TEXT NOT NULL,
    -- What the act is about: a HIT by its key, an assignment, a worker, or a HIT type.
    subject_kind TEXT NOT NULL
        CHECK (subject_kind IN ('hit', 'assignment', 'worker', 'hit type')),
    subject_id TEXT NOT NULL,
    -- Number of the act among several that are otherwise equal: 1 for the first.
    times INTEGER NOT NULL CHECK (times > 0),
    arguments TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    made_at TEXT NOT NULL,
    done_at TEXT,
    outcome TEXT
) STRICT;
CREATE INDEX intents_open ON intents (operation) WHERE done_at IS NULL;
CREATE INDEX intents_by_operation ON intents (operation, done_at);
CREATE INDEX intents_by_subject ON intents (subject_id, subject_kind, operation);

-- What workers submitted. `verdict` is the decision in force. `outcome` is how it was
-- carried out, empty until then.
CREATE TABLE assignments (
    assignment_id TEXT PRIMARY KEY,
    hit_id TEXT NOT NULL REFERENCES hits (hit_id),
    worker_id TEXT NOT NULL,
    status_when_collected TEXT NOT NULL,
    accepted_at TEXT NOT NULL,
    submitted_at TEXT NOT NULL,
    -- As the platform says it, or by its HIT's delay; '' of imported work.
    auto_approved_at TEXT NOT NULL DEFAULT '',
    -- When it has to be judged, although its batch is not complete; '' if never.
    judge_by TEXT NOT NULL DEFAULT '',
    verdict TEXT,
    outcome TEXT
) STRICT;
CREATE INDEX assignments_by_hit ON assignments (hit_id);
CREATE INDEX assignments_by_worker ON assignments (worker_id);
CREATE INDEX assignments_undecided ON assignments (submitted_at) WHERE verdict IS NULL;
CREATE INDEX assignments_unsettled ON assignments (verdict)
    WHERE verdict IS NOT NULL AND outcome IS NULL;
CREATE INDEX assignments_by_verdict ON assignments (verdict, outcome);

-- The workers' documents, verbatim; rows are only added. They are 5 KB each, so in the
-- table above they would slow down every query.
CREATE TABLE raw_answers (
    assignment_id TEXT PRIMARY KEY REFERENCES assignments (assignment_id),
    raw TEXT NOT NULL
) STRICT;

-- `fields` and `problems` are empty in answers whose content is in the archive.
CREATE TABLE answers (
    -- Stays the same when the file is compacted: the archive names answers by it.
    number INTEGER PRIMARY KEY,
    answer_id TEXT NOT NULL UNIQUE,
    assignment_id TEXT NOT NULL REFERENCES assignments (assignment_id),
    item_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    fields TEXT NOT NULL,
    problems TEXT NOT NULL,
    -- What was sent for no field, as a JSON object of texts by name; '' without any.
    also_sent TEXT NOT NULL DEFAULT '',
    verdict TEXT
) STRICT;
CREATE INDEX answers_with_more ON answers (number) WHERE also_sent <> '';
CREATE INDEX answers_by_assignment ON answers (assignment_id);
CREATE INDEX answers_undecided ON answers (assignment_id) WHERE verdict IS NULL;
CREATE INDEX answers_by_verdict ON answers (verdict);
CREATE INDEX answers_by_item ON answers (item_id);

-- Parquet files with what workers wrote in settled batches (`piecework.store.archive`).
CREATE TABLE archive_parts (
    part INTEGER PRIMARY KEY,
    batch INTEGER NOT NULL,
    first_number INTEGER NOT NULL,
    last_number INTEGER NOT NULL,
    -- Up to this number, the content of every answer is in the archive.
    through INTEGER NOT NULL,
    answers INTEGER NOT NULL,
    assignments INTEGER NOT NULL,
    answers_sha256 TEXT NOT NULL,
    documents_sha256 TEXT NOT NULL,
    archived_at TEXT NOT NULL
) STRICT;

-- Assignments and answers by the verdict in force and its outcome; '' if there is none.
CREATE TABLE verdict_counts (
    subject_kind TEXT NOT NULL CHECK (subject_kind IN ('assignment', 'answer')),
    verdict TEXT NOT NULL,
    outcome TEXT NOT NULL,
    subjects INTEGER NOT NULL,
    PRIMARY KEY (subject_kind, verdict, outcome)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER counts_of_assignments_inserted AFTER INSERT ON assignments BEGIN
    INSERT INTO verdict_counts (subject_kind, verdict, outcome, subjects)
        VALUES ('assignment', coalesce(new.verdict, ''), coalesce(new.outcome, ''), 1)
        ON CONFLICT (subject_kind, verdict, outcome) DO UPDATE SET
            subjects = subjects + 1;
END;
CREATE TRIGGER counts_of_assignments_updated
AFTER UPDATE OF verdict, outcome ON assignments BEGIN
    UPDATE verdict_counts SET subjects = subjects - 1
    WHERE subject_kind = 'assignment' AND verdict = coalesce(old.verdict, '')
        AND outcome = coalesce(old.outcome, '');
    INSERT INTO verdict_counts (subject_kind, verdict, outcome, subjects)
        VALUES ('assignment', coalesce(new.verdict, ''), coalesce(new.outcome, ''), 1)
        ON CONFLICT (subject_kind, verdict, outcome) DO UPDATE SET
            subjects = subjects + 1;
END;
CREATE TRIGGER counts_of_assignments_deleted AFTER DELETE ON assignments BEGIN
    UPDATE verdict_counts SET subjects = subjects - 1
    WHERE subject_kind = 'assignment' AND verdict = coalesce(old.verdict, '')
        AND outcome = coalesce(old.outcome, '');
END;
CREATE TRIGGER counts_of_answers_inserted AFTER INSERT ON answers BEGIN
    INSERT INTO verdict_counts (subject_kind, verdict, outcome, subjects)
        VALUES ('answer', coalesce(new.verdict, ''), '', 1)
        ON CONFLICT (subject_kind, verdict, outcome) DO UPDATE SET
            subjects = subjects + 1;
END;
CREATE TRIGGER counts_of_answers_updated AFTER UPDATE OF verdict ON answers BEGIN
    UPDATE verdict_counts SET subjects = subjects - 1
    WHERE subject_kind = 'answer' AND verdict = coalesce(old.verdict, '')
        AND outcome = '';
    INSERT INTO verdict_counts (subject_kind, verdict, outcome, subjects)
        VALUES ('answer', coalesce(new.verdict, ''), '', 1)
        ON CONFLICT (subject_kind, verdict, outcome) DO UPDATE SET
            subjects = subjects + 1;
END;
CREATE TRIGGER counts_of_answers_deleted AFTER DELETE ON answers BEGIN
    UPDATE verdict_counts SET subjects = subjects - 1
    WHERE subject_kind = 'answer' AND verdict = coalesce(old.verdict, '')
        AND outcome = '';
END;

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
CREATE INDEX findings_flagged ON findings (subject_kind, subject_id) WHERE flag = 1;

-- Decisions about answers, assignments and workers; the latest about a subject is in
-- force. A decision that is taken back before it had effects is deleted.
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
CREATE INDEX decisions_by_people ON decisions (subject_kind, decision_id)
    WHERE substr(decided_by, 1, 7) <> 'policy:';
CREATE TRIGGER verdicts_of_answers
AFTER INSERT ON decisions WHEN new.subject_kind = 'answer' BEGIN
    UPDATE answers SET verdict = new.verdict WHERE answer_id = new.subject_id;
END;
CREATE TRIGGER verdicts_of_assignments
AFTER INSERT ON decisions WHEN new.subject_kind = 'assignment' BEGIN
    UPDATE assignments SET verdict = new.verdict, outcome = NULL
    WHERE assignment_id = new.subject_id;
END;
CREATE TRIGGER verdicts_of_answers_taken_back
AFTER DELETE ON decisions WHEN old.subject_kind = 'answer' BEGIN
    UPDATE answers SET verdict = (
        SELECT verdict FROM decisions
        WHERE subject_kind = 'answer' AND subject_id = old.subject_id
        ORDER BY decision_id DESC LIMIT 1
    ) WHERE answer_id = old.subject_id;
END;
CREATE TRIGGER verdicts_of_assignments_taken_back
AFTER DELETE ON decisions WHEN old.subject_kind = 'assignment' BEGIN
    UPDATE assignments SET verdict = (
        SELECT verdict FROM decisions
        WHERE subject_kind = 'assignment' AND subject_id = old.subject_id
        ORDER BY decision_id DESC LIMIT 1
    ) WHERE assignment_id = old.subject_id;
END;

-- Proposals of the policy that wait for a person.
CREATE TABLE proposals (
    subject_kind TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    verdict TEXT NOT NULL,
    because TEXT NOT NULL,
    PRIMARY KEY (subject_kind, subject_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER proposals_are_decided
AFTER INSERT ON decisions BEGIN
    DELETE FROM proposals
    WHERE subject_kind = new.subject_kind AND subject_id = new.subject_id;
END;

-- What reviewers did, act by act: to undo acts, compare two people, estimate pace.
CREATE TABLE reviews (
    review_id INTEGER PRIMARY KEY,
    act INTEGER NOT NULL,
    subject_kind TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    verdict TEXT NOT NULL,
    because TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    reviewed_at TEXT NOT NULL,
    is_along INTEGER NOT NULL,
    is_second INTEGER NOT NULL,
    decision_id INTEGER,
    proposed TEXT,
    proposed_because TEXT,
    undone_at TEXT,
    undone_by TEXT
) STRICT;
CREATE INDEX reviews_by_act ON reviews (act);
CREATE INDEX reviews_by_subject ON reviews (subject_kind, subject_id);
-- The audit trail: a review stays as it is, but for one undo.
CREATE TRIGGER reviews_only_undone BEFORE UPDATE ON reviews
WHEN old.undone_at IS NOT NULL OR new.undone_at IS NULL
    OR (new.review_id, new.act, new.subject_kind, new.subject_id, new.verdict,
        new.because, new.reviewer, new.reviewed_at, new.is_along, new.is_second,
        new.decision_id, new.proposed, new.proposed_because)
    IS NOT
       (old.review_id, old.act, old.subject_kind, old.subject_id, old.verdict,
        old.because, old.reviewer, old.reviewed_at, old.is_along, old.is_second,
        old.decision_id, old.proposed, old.proposed_because)
BEGIN
    SELECT RAISE(ABORT, 'a review only changes when it is undone');
END;
CREATE TRIGGER reviews_stay BEFORE DELETE ON reviews BEGIN
    SELECT RAISE(ABORT, 'reviews are not deleted');
END;

-- People who signed in at a provider, by the name that `reviews` and other tables have.
CREATE TABLE reviewers (
    name TEXT PRIMARY KEY,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    UNIQUE (issuer, subject)
) STRICT;

-- Sign-ins, refusals and verdicts that `reviews` does not hold: with them the audit
-- trail. `name`, `issuer` and `subject` are empty where they do not apply.
CREATE TABLE review_events (
    event_id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    event TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    about TEXT NOT NULL
) STRICT;
CREATE TRIGGER review_events_do_not_change BEFORE UPDATE ON review_events BEGIN
    SELECT RAISE(ABORT, 'the audit trail does not change');
END;
CREATE TRIGGER review_events_stay BEFORE DELETE ON review_events BEGIN
    SELECT RAISE(ABORT, 'the audit trail is not deleted');
END;

-- Items in work, with the number of kept answers and of their workers. `probability` is
-- how sure the item's label was when it was weighed, and `wanted` how many answers the
-- item wants because of that. Both are empty until then. Another kept answer empties
-- `probability`. A dropped one empties both: fewer answers that agree may be enough.
CREATE TABLE items (
    item_id TEXT PRIMARY KEY,
    batch INTEGER NOT NULL,
    kept INTEGER NOT NULL DEFAULT 0,
    workers INTEGER NOT NULL DEFAULT 0,
    wanted INTEGER,
    probability REAL,
    -- Why it is not asked again, or empty: its row was withdrawn or replaced, or its own
    -- budget is spent.
    closed TEXT CHECK (closed IN ('withdrawn', 'replaced', 'budget'))
) STRICT, WITHOUT ROWID;
CREATE INDEX items_by_batch ON items (batch, workers);
CREATE INDEX items_by_sureness ON items (workers, probability) WHERE closed IS NULL;

-- Items in work that are alike, by batch: so many items, with so many kept answers. A
-- finished batch has few rows. `wanted` is 0 before it is known, `closed` '' while open.
CREATE TABLE item_counts (
    batch INTEGER NOT NULL,
    wanted INTEGER NOT NULL,
    workers INTEGER NOT NULL,
    closed TEXT NOT NULL,
    items INTEGER NOT NULL,
    kept INTEGER NOT NULL,
    PRIMARY KEY (batch, wanted, workers, closed)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER counts_of_items_inserted AFTER INSERT ON items BEGIN
    INSERT INTO item_counts (batch, wanted, workers, closed, items, kept)
        VALUES (new.batch, coalesce(new.wanted, 0), new.workers,
            coalesce(new.closed, ''), 1, new.kept)
        ON CONFLICT (batch, wanted, workers, closed) DO UPDATE SET
            items = items + 1, kept = kept + excluded.kept;
END;
CREATE TRIGGER counts_of_items_updated
AFTER UPDATE OF kept, workers, wanted, closed ON items BEGIN
    UPDATE item_counts SET items = items - 1, kept = kept - old.kept
    WHERE batch = old.batch AND wanted = coalesce(old.wanted, 0)
        AND workers = old.workers AND closed = coalesce(old.closed, '');
    DELETE FROM item_counts WHERE batch = old.batch AND items = 0;
    INSERT INTO item_counts (batch, wanted, workers, closed, items, kept)
        VALUES (new.batch, coalesce(new.wanted, 0), new.workers,
            coalesce(new.closed, ''), 1, new.kept)
        ON CONFLICT (batch, wanted, workers, closed) DO UPDATE SET
            items = items + 1, kept = kept + excluded.kept;
END;
CREATE TRIGGER counts_of_items_deleted AFTER DELETE ON items BEGIN
    UPDATE item_counts SET items = items - 1, kept = kept - old.kept
    WHERE batch = old.batch AND wanted = coalesce(old.wanted, 0)
        AND workers = old.workers AND closed = coalesce(old.closed, '');
    DELETE FROM item_counts WHERE batch = old.batch AND items = 0;
END;
CREATE TRIGGER kept_of_items
AFTER UPDATE OF verdict ON answers
WHEN new.verdict IS 'keep' OR old.verdict IS 'keep' BEGIN
    UPDATE items SET (kept, workers) = (
        SELECT count(*), count(DISTINCT worker_id)
        FROM answers JOIN assignments USING (assignment_id)
        WHERE answers.item_id = new.item_id AND answers.verdict = 'keep'
    ) WHERE item_id = new.item_id;
END;
CREATE TRIGGER labels_of_items
AFTER UPDATE OF verdict ON answers
WHEN (new.verdict IS 'keep') <> (old.verdict IS 'keep') BEGIN
    UPDATE items SET probability = NULL, wanted = iif(new.verdict IS 'keep', wanted, NULL)
    WHERE item_id = new.item_id;
END;

-- Money: every movement with its act and its batch, and totals by account, by batch and
-- by UTC day.
CREATE TABLE ledger (
    entry_id INTEGER PRIMARY KEY,
    intent_key TEXT NOT NULL REFERENCES intents (intent_key),
    credit TEXT NOT NULL,
    debit TEXT NOT NULL,
    amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    batch INTEGER,
    at TEXT NOT NULL
) STRICT;
CREATE INDEX ledger_by_intent ON ledger (intent_key);
CREATE TABLE balances (
    account TEXT PRIMARY KEY,
    cents INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE batch_costs (batch INTEGER PRIMARY KEY, cents INTEGER NOT NULL) STRICT;
CREATE TABLE day_promises (
    day TEXT PRIMARY KEY,
    cents INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER totals_of_ledger
AFTER INSERT ON ledger BEGIN
    INSERT INTO balances (account, cents) VALUES (new.debit, new.amount_cents)
        ON CONFLICT (account) DO UPDATE SET cents = cents + excluded.cents;
    INSERT INTO balances (account, cents) VALUES (new.credit, -new.amount_cents)
        ON CONFLICT (account) DO UPDATE SET cents = cents + excluded.cents;
    INSERT INTO batch_costs (batch, cents)
        SELECT new.batch, iif(new.credit = 'requester', 1, -1) * new.amount_cents
        WHERE 'requester' IN (new.credit, new.debit) AND new.batch IS NOT NULL
        ON CONFLICT (batch) DO UPDATE SET cents = cents + excluded.cents;
    INSERT INTO day_promises (day, cents)
        SELECT substr(new.at, 1, 10), new.amount_cents WHERE new.credit = 'requester'
        ON CONFLICT (day) DO UPDATE SET cents = cents + excluded.cents;
END;

-- The most that people agreed to spend; the latest amount holds. A schedule, or a file of
-- options, states its amount at each pass, which is an agreement only when it changes.
CREATE TABLE agreements (
    agreement_id INTEGER PRIMARY KEY,
    amount_cents INTEGER NOT NULL CHECK (amount_cents >= 0),
    agreed_at TEXT NOT NULL,
    by_schedule INTEGER NOT NULL DEFAULT 0 CHECK (by_schedule IN (0, 1))
) STRICT;

-- When a person stopped the campaign, and when it continued.
CREATE TABLE stops (
    stop_id INTEGER PRIMARY KEY,
    stopped_at TEXT NOT NULL,
    undone_at TEXT
) STRICT;

-- What workers got outside every marketplace, in cash or by transfer: what a person recorded.
CREATE TABLE payouts (
    worker_id TEXT NOT NULL,
    label TEXT NOT NULL,
    cents INTEGER NOT NULL CHECK (cents >= 0),
    paid_on TEXT NOT NULL,
    recorded_by TEXT NOT NULL,
    recorded_at TEXT NOT NULL,
    PRIMARY KEY (worker_id, label)
) STRICT, WITHOUT ROWID;

-- Which workers have taken the test before the work, and their scores.
CREATE TABLE scores (
    worker_id TEXT PRIMARY KEY,
    score INTEGER NOT NULL,
    seen_at TEXT NOT NULL
) STRICT;

-- Workers whose data were deleted at their request, by pseudonym: what a marketplace or a
-- file still has of them is not stored again.
CREATE TABLE forgotten_workers (pseudonym TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- Edits of accepted text, and uncertain ones that wait for a person.
CREATE TABLE edits (
    answer_id TEXT NOT NULL REFERENCES answers (answer_id),
    number INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    rule TEXT NOT NULL,
    reason TEXT NOT NULL,
    probability REAL NOT NULL DEFAULT 1,
    PRIMARY KEY (answer_id, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE edit_proposals (
    answer_id TEXT NOT NULL REFERENCES answers (answer_id),
    number INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    rule TEXT NOT NULL,
    reason TEXT NOT NULL,
    probability REAL NOT NULL,
    PRIMARY KEY (answer_id, number)
) STRICT, WITHOUT ROWID;

-- Decisions about words that cleaning would change: what is meant, or empty if right.
CREATE TABLE words (
    word TEXT PRIMARY KEY,
    meant TEXT,
    reviewer TEXT NOT NULL,
    reviewed_at TEXT NOT NULL
) STRICT;

-- Labels that a person settled where workers differed.
CREATE TABLE labels (
    item_id TEXT NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    reviewed_at TEXT NOT NULL,
    because TEXT NOT NULL,
    PRIMARY KEY (item_id, field)
) STRICT, WITHOUT ROWID;

-- Results that other tools collected. Decisions made elsewhere are stored as outcomes,
-- apart from `decisions`: piecework does not judge by them.
CREATE TABLE imports (
    import_id INTEGER PRIMARY KEY,
    file TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    format TEXT NOT NULL,
    assignments INTEGER NOT NULL DEFAULT 0,
    known INTEGER NOT NULL DEFAULT 0,
    not_sent INTEGER NOT NULL DEFAULT 0,
    unreadable INTEGER NOT NULL DEFAULT 0,
    imported_at TEXT NOT NULL
) STRICT;
CREATE TABLE unreadable_rows (
    import_id INTEGER NOT NULL REFERENCES imports (import_id),
    place INTEGER NOT NULL,
    line INTEGER NOT NULL,
    column_name TEXT NOT NULL,
    fault TEXT NOT NULL,
    cells TEXT NOT NULL,
    worker_id TEXT NOT NULL,
    PRIMARY KEY (import_id, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE imported_items (
    item_id TEXT PRIMARY KEY,
    columns TEXT NOT NULL
) STRICT;
CREATE TABLE outcomes (
    answer_id TEXT PRIMARY KEY REFERENCES answers (answer_id),
    outcome TEXT NOT NULL,
    feedback TEXT NOT NULL,
    import_id INTEGER NOT NULL REFERENCES imports (import_id)
) STRICT, WITHOUT ROWID;

-- Passes and the marketplace's last mark (`piecework.store.generations`).
CREATE TABLE generations (
    number INTEGER PRIMARY KEY,
    generation TEXT NOT NULL UNIQUE,
    first_change INTEGER NOT NULL,
    began_at TEXT NOT NULL
) STRICT;
CREATE TABLE marketplace_mark (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    mark TEXT NOT NULL
) STRICT;
CREATE TABLE accepted_marks (mark TEXT PRIMARY KEY) STRICT;

-- One record of the last pass. Its progress holds until the next write: the triggers
-- below delete it.
CREATE TABLE last_pass (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    request_digest TEXT,
    progress TEXT,
    polled_at TEXT,
    wait_seconds REAL,
    end_event TEXT,
    end_is_announced INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TRIGGER hits_insert_is_news AFTER INSERT ON hits BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER hits_update_is_news AFTER UPDATE ON hits BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER hits_delete_is_news AFTER DELETE ON hits BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER intents_insert_is_news AFTER INSERT ON intents BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER intents_update_is_news AFTER UPDATE ON intents BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER intents_delete_is_news AFTER DELETE ON intents BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER assignments_insert_is_news AFTER INSERT ON assignments BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER assignments_update_is_news AFTER UPDATE ON assignments BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER assignments_delete_is_news AFTER DELETE ON assignments BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER decisions_insert_is_news AFTER INSERT ON decisions BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER decisions_update_is_news AFTER UPDATE ON decisions BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER decisions_delete_is_news AFTER DELETE ON decisions BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER agreements_insert_is_news AFTER INSERT ON agreements BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER agreements_update_is_news AFTER UPDATE ON agreements BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER agreements_delete_is_news AFTER DELETE ON agreements BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER stops_insert_is_news AFTER INSERT ON stops BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER stops_update_is_news AFTER UPDATE ON stops BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER stops_delete_is_news AFTER DELETE ON stops BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER bound_insert_is_news AFTER INSERT ON bound BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER bound_update_is_news AFTER UPDATE ON bound BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER bound_delete_is_news AFTER DELETE ON bound BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER pass_notes_insert_is_news AFTER INSERT ON pass_notes BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER pass_notes_update_is_news AFTER UPDATE ON pass_notes BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER pass_notes_delete_is_news AFTER DELETE ON pass_notes BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER marketplace_prices_insert_is_news AFTER INSERT ON marketplace_prices BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER marketplace_prices_update_is_news AFTER UPDATE ON marketplace_prices BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER marketplace_prices_delete_is_news AFTER DELETE ON marketplace_prices BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER platform_types_insert_is_news AFTER INSERT ON platform_types BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER platform_types_update_is_news AFTER UPDATE ON platform_types BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER platform_types_delete_is_news AFTER DELETE ON platform_types BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER simulated_workers_insert_is_news AFTER INSERT ON simulated_workers BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER simulated_workers_update_is_news AFTER UPDATE ON simulated_workers BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER simulated_workers_delete_is_news AFTER DELETE ON simulated_workers BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
CREATE TRIGGER items_wanted_is_news AFTER UPDATE OF wanted ON items BEGIN
    UPDATE last_pass SET progress = NULL WHERE progress IS NOT NULL;
END;
