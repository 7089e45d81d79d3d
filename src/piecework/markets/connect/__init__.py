"""CloudResearch Connect: a client of its API, a bridge to the marketplace.

Its API was read from its users' programs, not from its document, and no account was
reached. What is not known for certain is listed in `doctor`.
"""
