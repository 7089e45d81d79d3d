-- How long a HIT of a type is expected to take, as its requester said last.

ALTER TABLE hit_types ADD COLUMN expected_seconds INTEGER
    CHECK (expected_seconds > 0);
