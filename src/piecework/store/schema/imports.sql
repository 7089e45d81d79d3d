-- Results that other tools collected. What was decided elsewhere lies apart from
-- decisions: it is an outcome, and nothing here is judged by it.

CREATE TABLE imports (
    import_id INTEGER PRIMARY KEY,
    file TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    format TEXT NOT NULL,
    assignments INTEGER NOT NULL DEFAULT 0,
    known INTEGER NOT NULL DEFAULT 0,
    not_sent INTEGER NOT NULL DEFAULT 0,
    unreadable INTEGER NOT NULL DEFAULT 0,
    imported_at TEXT NOT NULL
) STRICT;

CREATE TABLE unreadable_rows (
    import_id INTEGER NOT NULL REFERENCES imports (import_id),
    line INTEGER NOT NULL,
    column_name TEXT NOT NULL,
    fault TEXT NOT NULL,
    cells TEXT NOT NULL,
    PRIMARY KEY (import_id, line)
) STRICT, WITHOUT ROWID;

CREATE TABLE imported_items (
    item_id TEXT PRIMARY KEY,
    columns TEXT NOT NULL
) STRICT;

CREATE TABLE outcomes (
    answer_id TEXT PRIMARY KEY REFERENCES answers (answer_id),
    outcome TEXT NOT NULL,
    feedback TEXT NOT NULL,
    import_id INTEGER NOT NULL REFERENCES imports (import_id)
) STRICT, WITHOUT ROWID;
