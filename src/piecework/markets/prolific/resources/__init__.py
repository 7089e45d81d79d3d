"""Prolific's resources: their operations and the values these return."""
