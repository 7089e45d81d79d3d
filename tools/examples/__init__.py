"""A tool for developers: makes the items files and pictures of example campaigns."""
