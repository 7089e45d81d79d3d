"""Results: cleaned text, the dataset, and the report of how it was made."""
