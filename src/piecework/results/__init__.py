"""What a campaign leaves: cleaned text, the dataset, the report."""
