"""Quality control: takes frames, returns findings with evidence. Pure functions."""
