-- What reviewers did, act by act: for undoing, for two people's agreement, for the pace.

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
    undone_at TEXT
) STRICT;
CREATE INDEX reviews_by_act ON reviews (act);
CREATE INDEX reviews_by_subject ON reviews (subject_kind, subject_id);

-- A decision that was taken back before anything followed from it; `reviews` keeps it.
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

-- What people said of words that cleaning would change: what is meant, or right here.
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
