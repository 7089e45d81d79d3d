"""Readers of results from other tools, which yield rows of one type."""
