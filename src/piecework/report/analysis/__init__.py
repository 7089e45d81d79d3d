"""Analyses of answers, computed on demand: tables of numbers with their notes."""
