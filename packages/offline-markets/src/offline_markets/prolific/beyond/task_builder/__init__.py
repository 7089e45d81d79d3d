"""Prolific's task builder: work that Prolific shows by itself, and its answers."""
