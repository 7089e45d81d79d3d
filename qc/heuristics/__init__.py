"""One idea a module; `qc.registry` is the whole list."""
