"""The results of a campaign: cleaned text, the dataset, the report."""
