"""An MTurk-compatible marketplace: requester API, worker site, ledger.

It shares no code with the pipeline, so that one misreading of the protocol cannot
affect both sides of the wire.
"""
