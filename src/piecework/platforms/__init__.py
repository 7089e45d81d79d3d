"""The world where workers are, behind one port."""
