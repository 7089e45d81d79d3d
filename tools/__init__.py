"""Programs that write docs and examples; they are not installed."""
