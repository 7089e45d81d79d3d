"""Writes campaign files: from what is asked about which items to the text of one."""
