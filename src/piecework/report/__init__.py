"""The report of how a dataset was made, and the page of what a corpus holds."""
