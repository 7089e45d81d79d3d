-- What workers agreed to, and when: the text itself, since it may be another later.

CREATE TABLE consent_texts (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL
) STRICT;
CREATE TABLE consents (
    worker INTEGER NOT NULL REFERENCES workers (id),
    consent_text INTEGER NOT NULL REFERENCES consent_texts (id),
    agreed_ms INTEGER NOT NULL,
    PRIMARY KEY (worker, consent_text)
) STRICT, WITHOUT ROWID;
