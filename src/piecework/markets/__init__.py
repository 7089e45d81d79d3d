"""Markets of other people: Prolific, Connect and any panel, and what their bridges share."""
