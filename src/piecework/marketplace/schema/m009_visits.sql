-- Workers of another market (participants), who come by a study there, a visit at a time,
-- do several HITs in one visit, and are paid there. What a requester wants of them stands
-- in the tables that were here before, written with the call that wanted it; here stands
-- how far that was carried out there. A study with a qualification type is a screening: its
-- visits take that type's test, and no HIT.

ALTER TABLE workers ADD COLUMN comes_by_visits INTEGER NOT NULL DEFAULT 0
    CHECK (comes_by_visits IN (0, 1));
CREATE TABLE participants (
    worker INTEGER PRIMARY KEY REFERENCES workers (id),
    participant_id TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE studies (
    id INTEGER PRIMARY KEY,
    hit_type INTEGER NOT NULL REFERENCES hit_types (id),
    qualification_type INTEGER REFERENCES qualification_types (id),
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
    keep_out_group TEXT,
    let_in_group TEXT,
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
    submission_id TEXT NOT NULL UNIQUE,
    stage TEXT NOT NULL
        CHECK (stage IN ('Open', 'Done', 'Left', 'Late', 'TurnedAway')),
    began_ms INTEGER NOT NULL,
    deadline_ms INTEGER NOT NULL,
    closed_ms INTEGER,
    status TEXT NOT NULL,
    return_asked_ms INTEGER,
    outcome TEXT CHECK (outcome IN ('Paid', 'PaidByBonus', 'Rejected', 'Gone')),
    settled_cents INTEGER NOT NULL DEFAULT 0,
    trouble TEXT NOT NULL DEFAULT '',
    CHECK ((stage = 'Open') = (closed_ms IS NULL))
) STRICT;
CREATE INDEX visits_by_study ON visits (study, id);
CREATE INDEX visits_by_worker ON visits (worker, id);
CREATE INDEX visits_without_outcome ON visits (study, id) WHERE outcome IS NULL;

ALTER TABLE assignments ADD COLUMN visit INTEGER REFERENCES visits (id);
ALTER TABLE assignments ADD COLUMN shown_ms INTEGER;
ALTER TABLE assignments ADD COLUMN answered_ms INTEGER;
CREATE INDEX assignments_by_visit ON assignments (visit, id) WHERE visit IS NOT NULL;
CREATE INDEX hits_by_free_slots ON hits
    (hit_type, max_assignments - accepted - submitted - approved - rejected DESC, id)
    WHERE status = 'Assignable';

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
    paid_before TEXT
) STRICT;
CREATE INDEX rewards_by_bonus ON bonus_lines (visit) WHERE bonus IS NULL;
CREATE INDEX bonus_lines_waiting ON bonus_lines (visit) WHERE batch IS NULL;
CREATE INDEX bonus_lines_by_batch ON bonus_lines (batch, id);

ALTER TABLE messages ADD COLUMN sent_there TEXT
    CHECK (sent_there IN ('Sending', 'Sent', 'Unknown', 'Refused'));
CREATE INDEX messages_to_send ON messages (id) WHERE sent_there IS NULL;
