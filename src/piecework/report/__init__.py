"""The report on how a dataset was made, and the page on what a corpus contains."""
