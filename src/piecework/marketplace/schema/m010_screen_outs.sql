-- Who came to a visit and found no work may be paid for that, a fixed amount, where the
-- other market pays so: what a study promises, how often, and to whom it was promised.
-- And how many submissions of a study were undecided there when it was read last.

ALTER TABLE studies ADD COLUMN screen_out_code TEXT;
ALTER TABLE studies ADD COLUMN screen_out_cents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE studies ADD COLUMN screen_out_cost_cents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE studies ADD COLUMN screen_out_slots INTEGER NOT NULL DEFAULT 0;
ALTER TABLE studies ADD COLUMN undecided INTEGER NOT NULL DEFAULT 0;
ALTER TABLE visits ADD COLUMN screen_out_cents INTEGER NOT NULL DEFAULT 0;
