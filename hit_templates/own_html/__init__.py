"""HTML that somebody wrote for MTurk, Turkle or nothing in particular, as a task."""
