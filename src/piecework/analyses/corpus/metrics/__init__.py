"""Metrics that score captions against others, one module each."""
