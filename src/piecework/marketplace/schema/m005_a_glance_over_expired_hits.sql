-- The next HIT of a type is found without a look into those that have expired.

DROP INDEX hits_by_type;
CREATE INDEX hits_by_type ON hits (hit_type, status, id, expires_ms);
