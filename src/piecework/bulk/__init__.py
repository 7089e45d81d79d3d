"""Answers in files that outgrow memory: read, judged, cleaned and written in parts."""
