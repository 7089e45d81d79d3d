"""Import results that other tools collected, as a separate campaign."""
