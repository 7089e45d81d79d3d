-- Pages with gaps, which a HIT is made of by naming one and giving what fills the gaps.

CREATE TABLE hit_layouts (
    id INTEGER PRIMARY KEY,
    layout_id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    html TEXT NOT NULL,
    frame_height INTEGER NOT NULL,
    made_ms INTEGER NOT NULL
) STRICT;
