"""Answers as Amazon's hosts, for programs that cannot be changed."""
