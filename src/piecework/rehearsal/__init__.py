"""Rehearsals: simulated workers, drawn scenes and virtual time."""
