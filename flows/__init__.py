"""Prefect flows that run the plain steps: what happens, in which order, how often."""
