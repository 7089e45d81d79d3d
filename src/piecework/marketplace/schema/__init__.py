"""The tables of a marketplace, and the changes that made them."""
