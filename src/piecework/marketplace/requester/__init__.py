"""The requester's side: JSON 1.1 on the wire, the state machine behind it."""
