"""Measures of a caption corpus: words, levels, agreement, metrics."""
