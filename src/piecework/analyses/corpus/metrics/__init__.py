"""Metrics that score captions against others."""
