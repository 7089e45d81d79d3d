"""Answers in files larger than memory: read, judged, cleaned and written in parts."""
