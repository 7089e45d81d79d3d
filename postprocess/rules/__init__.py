"""Cleaning rules, one each; a rule proposes edits and touches nothing."""
