"""What answers say together, computed on demand: tables of numbers with their words."""
