"""Simulated workers: who they are, what they know, and how they answer."""
