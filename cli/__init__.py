"""The command `piecework`: words only, no work."""
