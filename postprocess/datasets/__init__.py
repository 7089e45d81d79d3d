"""Dataset formats, one per module."""
