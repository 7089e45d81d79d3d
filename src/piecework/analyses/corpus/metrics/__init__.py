"""How captions are scored against others: one metric a module."""
