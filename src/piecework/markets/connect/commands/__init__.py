"""The commands about Connect: an account, an offline Connect, and `serve --crowd connect`."""
