"""Places of the user's own: folders, buckets and databases that results go to."""
