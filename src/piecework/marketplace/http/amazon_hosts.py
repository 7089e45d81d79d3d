"""The hosts that programs for MTurk have built in."""

HOSTS = (
    "mturk-requester.us-east-1.amazonaws.com",
    "mturk-requester-sandbox.us-east-1.amazonaws.com",
)
"""Production and sandbox; both are this marketplace."""
