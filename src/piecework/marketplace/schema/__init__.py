"""The tables of a marketplace, as SQL files."""
