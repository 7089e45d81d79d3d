"""The commands about panels, and `serve --crowd panel`."""
