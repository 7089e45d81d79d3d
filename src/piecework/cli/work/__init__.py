"""What commands do once their words are read; loaded when it is asked for."""
