"""Cleaning rules, one per module; a rule proposes edits and changes nothing itself."""
