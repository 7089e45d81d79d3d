"""Accepted answers in; edits, aggregates, datasets and reports out. Pure."""
