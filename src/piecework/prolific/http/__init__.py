"""Calls of Prolific's API: address, token, retries, answers and paged listings."""
