"""Results that other tools collected, read into rows of one shape."""
