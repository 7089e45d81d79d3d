-- A client that does not number its attempts may use a signature once more, too; how
-- often it did has to be known.

ALTER TABLE spent_signatures ADD COLUMN uses INTEGER NOT NULL DEFAULT 1;
