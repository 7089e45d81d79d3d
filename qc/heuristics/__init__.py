"""One idea a module; `piecework.qc.registry` is the whole list."""
