"""What store and marketplace both need to know of SQLite's files, and nothing else."""
