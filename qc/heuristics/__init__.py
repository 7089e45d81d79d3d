"""One heuristic per module; `piecework.qc.registry` lists all of them."""
