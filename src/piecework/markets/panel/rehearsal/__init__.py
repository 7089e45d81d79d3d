"""A rehearsal with people of a simulated panel."""
