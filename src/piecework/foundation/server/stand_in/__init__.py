"""Answers as the hosts of a service, for programs that cannot be changed."""
