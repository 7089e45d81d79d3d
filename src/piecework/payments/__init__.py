"""Bonuses: which are due, and how each is paid once."""
