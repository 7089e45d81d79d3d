"""A rehearsal with participants of an offline Connect."""
