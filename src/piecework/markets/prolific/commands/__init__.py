"""The commands about Prolific: an account, an offline Prolific, and `serve --crowd prolific`."""
