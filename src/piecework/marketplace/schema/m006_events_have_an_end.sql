-- Events are kept for a time: 30 days, or 120 where a message was made of one.

ALTER TABLE events ADD COLUMN drop_ms INTEGER NOT NULL DEFAULT 0;
UPDATE events SET drop_ms = at_ms + CASE WHEN EXISTS
    (SELECT 1 FROM deliveries WHERE deliveries.event = events.id)
    THEN 10368000000 ELSE 2592000000 END;
CREATE INDEX events_by_end ON events (drop_ms);
