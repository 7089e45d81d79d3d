"""What a bridge to any outside market does with the marketplace's tables."""
