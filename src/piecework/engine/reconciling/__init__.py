"""Make a store and a marketplace agree that are copies from different times."""
