"""The commands about panels, and `market serve --crowd panel`."""
