"""The commands of `market prolific`, and `market serve --crowd prolific`."""
