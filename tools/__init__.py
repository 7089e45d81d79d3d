"""Programs that generate docs and examples; they are not installed."""
