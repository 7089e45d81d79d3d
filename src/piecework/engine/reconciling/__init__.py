"""A store and a marketplace that are copies of different moments: made to agree."""
