"""Dataset formats, written and read."""
