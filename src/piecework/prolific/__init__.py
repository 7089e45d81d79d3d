"""Prolific as seen from outside: a typed client of its API, and a look before use.

It imports nothing else of ours (see the contract in pyproject.toml): what offers
Prolific's participants to requesters is put together by who starts it.
"""
