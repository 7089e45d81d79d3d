"""Review policies: rules of a HIT by which the marketplace judges answers."""
