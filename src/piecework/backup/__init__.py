"""Continuous copies of databases in a bucket or folder, made by Litestream."""
