"""The commands of `market connect`, and `market serve --crowd connect`."""
