"""Turns HTML written for MTurk, Turkle or any other site into a task."""
