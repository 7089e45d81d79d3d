"""The operations of each resource of Connect's API, and their values."""
