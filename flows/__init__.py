"""Prefect flows over plain steps: what happens, in which order, how often."""
