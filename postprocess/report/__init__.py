"""The report of how a dataset was made."""
