-- A copy of this file that is brought back does not know what happened after it was made.
-- Here stands what the other market shows of that: studies that this file does not have,
-- until a person decides about each, and bonuses that these books do not have.

CREATE TABLE unknown_studies (
    study_id TEXT PRIMARY KEY,
    internal_name TEXT NOT NULL,
    status TEXT NOT NULL,
    places INTEGER NOT NULL,
    submissions INTEGER NOT NULL,
    spent_cents INTEGER NOT NULL,
    held_cents INTEGER NOT NULL,
    is_left INTEGER NOT NULL DEFAULT 0 CHECK (is_left IN (0, 1))
) STRICT;

-- What bonuses of a study have cost there beyond these books, with fees and tax.
ALTER TABLE studies ADD COLUMN unbooked_bonus_cents INTEGER NOT NULL DEFAULT 0;

-- Amounts (JSON) of bonuses of a submission that a person said are not this market's.
ALTER TABLE visits ADD COLUMN other_bonuses TEXT NOT NULL DEFAULT '[]';

-- Of a visit that ended by its study's code and has no answers here: whether they are
-- lost. What is suspected waits for a person; what a person stated is paid.
ALTER TABLE visits ADD COLUMN loss TEXT NOT NULL DEFAULT ''
    CHECK (loss IN ('', 'Suspected', 'Stated'));

-- What all copies of this file have in common, and no other marketplace's file has.
CREATE TABLE identity (word TEXT NOT NULL) STRICT;
INSERT INTO identity (word) VALUES (lower(hex(randomblob(4))));
