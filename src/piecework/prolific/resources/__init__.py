"""Prolific's resources: the operations of each, and the values that they give."""
