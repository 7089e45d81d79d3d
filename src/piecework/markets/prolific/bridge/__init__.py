"""The bridge between a marketplace and its workers, Prolific's participants.

A requester's call writes what they want to the marketplace's tables, so the bridge
needs no notification and misses nothing. A step reads these tables and the state at
Prolific, and makes one call for each difference. Each call that cannot be undone is
recorded before it is sent.
"""
