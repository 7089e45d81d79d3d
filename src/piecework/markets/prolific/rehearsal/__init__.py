"""A rehearsal with participants of an offline Prolific, and a visit of a test participant."""
