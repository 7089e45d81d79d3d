-- Amounts (JSON) of bonuses of a submission that a person said are not this one. Another
-- bonus of the submission may still be among them, so the submission cannot keep them.
ALTER TABLE bonus_lines ADD COLUMN other_bonuses TEXT NOT NULL DEFAULT '[]';
ALTER TABLE visits DROP COLUMN other_bonuses;
