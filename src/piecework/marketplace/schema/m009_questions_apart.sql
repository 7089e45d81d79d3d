-- A HIT's question is tens of kilobytes, and each step of each worker changes the HIT:
-- SQLite would read and write the question with every counter.

CREATE TABLE questions (
    hit INTEGER PRIMARY KEY REFERENCES hits (id),
    question TEXT NOT NULL
) STRICT;
INSERT INTO questions (hit, question) SELECT id, question FROM hits;
ALTER TABLE hits DROP COLUMN question;
