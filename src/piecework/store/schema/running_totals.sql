-- What a pass asks for is kept as it changes, and not added up again each time:
-- verdicts beside their subjects, accepted answers beside their items, balances beside
-- the ledger. Triggers carry them on in the transaction that changes them.

ALTER TABLE about RENAME TO settings;

-- The workers' documents, 5 KB each, would be read past at every question.
CREATE TABLE raw_answers (
    assignment_id TEXT PRIMARY KEY REFERENCES assignments (assignment_id),
    raw TEXT NOT NULL
) STRICT;
INSERT INTO raw_answers (assignment_id, raw) SELECT assignment_id, raw FROM assignments;
ALTER TABLE assignments DROP COLUMN raw;
ALTER TABLE assignments DROP COLUMN fields;

-- The verdict in force, and how it was carried out; empty while it was not.
ALTER TABLE assignments ADD COLUMN verdict TEXT;
ALTER TABLE assignments ADD COLUMN outcome TEXT;
ALTER TABLE answers ADD COLUMN verdict TEXT;
UPDATE assignments SET verdict = (
    SELECT verdict FROM decisions
    WHERE subject_kind = 'assignment' AND subject_id = assignment_id
    ORDER BY decision_id DESC LIMIT 1
);
UPDATE assignments SET outcome = (
    SELECT outcome FROM intents
    WHERE done_at IS NOT NULL AND intent_key IN (
        verdict || ':' || assignment_id, 'unreject:' || assignment_id)
    LIMIT 1
) WHERE verdict IS NOT NULL;
UPDATE answers SET verdict = (
    SELECT verdict FROM decisions
    WHERE subject_kind = 'answer' AND subject_id = answer_id
    ORDER BY decision_id DESC LIMIT 1
);
CREATE INDEX assignments_undecided ON assignments (submitted_at) WHERE verdict IS NULL;
CREATE INDEX assignments_unsettled ON assignments (verdict)
    WHERE verdict IS NOT NULL AND outcome IS NULL;
CREATE INDEX assignments_by_verdict ON assignments (verdict, outcome);
CREATE INDEX answers_undecided ON answers (assignment_id) WHERE verdict IS NULL;
CREATE INDEX answers_by_verdict ON answers (verdict);
CREATE INDEX answers_by_item ON answers (item_id);
CREATE TRIGGER verdicts_of_answers
AFTER INSERT ON decisions WHEN new.subject_kind = 'answer' BEGIN
    UPDATE answers SET verdict = new.verdict WHERE answer_id = new.subject_id;
END;
CREATE TRIGGER verdicts_of_assignments
AFTER INSERT ON decisions WHEN new.subject_kind = 'assignment' BEGIN
    UPDATE assignments SET verdict = new.verdict, outcome = NULL
    WHERE assignment_id = new.subject_id;
END;

-- Answers kept about an item, and how many workers they are of.
CREATE TABLE items (
    item_id TEXT PRIMARY KEY,
    batch INTEGER NOT NULL,
    kept INTEGER NOT NULL DEFAULT 0,
    workers INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX items_by_batch ON items (batch, workers);
INSERT INTO items (item_id, batch)
    SELECT value, min(batch) FROM hits, json_each(hits.item_ids) GROUP BY value;
UPDATE items SET (kept, workers) = (
    SELECT count(*), count(DISTINCT worker_id)
    FROM answers JOIN assignments USING (assignment_id)
    WHERE answers.item_id = items.item_id AND answers.verdict = 'keep'
);
CREATE TRIGGER kept_of_items
AFTER UPDATE OF verdict ON answers
WHEN new.verdict IS 'keep' OR old.verdict IS 'keep' BEGIN
    UPDATE items SET (kept, workers) = (
        SELECT count(*), count(DISTINCT worker_id)
        FROM answers JOIN assignments USING (assignment_id)
        WHERE answers.item_id = new.item_id AND answers.verdict = 'keep'
    ) WHERE item_id = new.item_id;
END;

-- Money by account, by batch, and by UTC day.
ALTER TABLE ledger ADD COLUMN batch INTEGER;
UPDATE ledger SET batch = iif(
    intent_key LIKE 'publish:%',
    (SELECT batch FROM hits WHERE hit_key = substr(ledger.intent_key, 9)),
    (SELECT hits.batch
     FROM intents
     JOIN assignments
         ON assignment_id = json_extract(intents.arguments, '$.subject')
     JOIN hits USING (hit_id)
     WHERE intents.intent_key = ledger.intent_key)
);
CREATE TABLE balances (
    account TEXT PRIMARY KEY,
    cents INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE batch_costs (batch INTEGER PRIMARY KEY, cents INTEGER NOT NULL) STRICT;
CREATE TABLE day_promises (
    day TEXT PRIMARY KEY,
    cents INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO balances (account, cents)
    SELECT account, sum(cents) FROM (
        SELECT debit AS account, amount_cents AS cents FROM ledger
        UNION ALL
        SELECT credit, -amount_cents FROM ledger
    ) GROUP BY account;
INSERT INTO batch_costs (batch, cents)
    SELECT batch, sum(iif(credit = 'requester', 1, -1) * amount_cents) FROM ledger
    WHERE 'requester' IN (credit, debit) AND batch IS NOT NULL GROUP BY batch;
INSERT INTO day_promises (day, cents)
    SELECT substr(at, 1, 10), sum(amount_cents) FROM ledger
    WHERE credit = 'requester' GROUP BY 1;
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

CREATE INDEX intents_open ON intents (operation) WHERE done_at IS NULL;
CREATE INDEX intents_by_operation ON intents (operation, done_at);
CREATE INDEX hits_uncollected ON hits (hit_id) WHERE collected_at IS NULL;
CREATE INDEX findings_flagged ON findings (subject_kind, subject_id) WHERE flag = 1;

-- Heuristics that have other names now.
UPDATE findings SET heuristic = CASE heuristic
    WHEN 'scale_still' THEN 'low_scale_variance'
    WHEN 'beyond_asked' THEN 'ignored_page_warnings'
    WHEN 'outvoted' THEN 'low_agreement'
    WHEN 'lone_canned' THEN 'minority_canned'
    ELSE heuristic END;

-- What the policy proposes and a person has to look at.
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

-- One record of the last pass; what it found holds until something is written.
DROP TABLE standing;
DROP TABLE polls;
CREATE TABLE last_pass (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    request_digest TEXT,
    progress TEXT,
    polled_at TEXT,
    wait_seconds REAL
) STRICT;
