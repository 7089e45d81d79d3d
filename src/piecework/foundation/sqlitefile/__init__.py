"""What the store and the marketplace share about SQLite's files."""
