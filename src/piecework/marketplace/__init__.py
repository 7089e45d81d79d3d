"""An MTurk-compatible marketplace: requester API, worker site, ledger.

Knows nothing of the pipeline, so that one misreading of the protocol cannot sit on
both sides of the wire.
"""
