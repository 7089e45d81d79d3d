"""Drawn pictures with known content, and descriptions of them."""
