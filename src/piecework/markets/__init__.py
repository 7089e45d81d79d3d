"""Markets of other people, a folder each, and what their bridges share."""
