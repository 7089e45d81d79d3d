"""The worker's side: find, accept, do and submit HITs in a browser."""
