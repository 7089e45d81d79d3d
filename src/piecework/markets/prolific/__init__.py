"""A typed client of Prolific's API, and the checks to run before using it.

It imports no other part of piecework (see the contract in pyproject.toml). The program
that starts a marketplace connects it to Prolific.
"""
