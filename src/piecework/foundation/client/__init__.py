"""Calls of another service's API: address, token, retries, answers and values."""
