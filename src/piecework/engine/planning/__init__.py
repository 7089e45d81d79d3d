"""Pure functions: what is due next, which HITs come next, and what they cost."""
