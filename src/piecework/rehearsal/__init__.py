"""What pretends: simulated workers, drawn scenes, a clock that jumps."""
