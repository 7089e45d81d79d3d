"""Dataset formats, one each."""
