"""For programs that cannot be changed: a marketplace that answers as Amazon's hosts."""
