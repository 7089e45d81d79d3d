"""The platforms where workers are, behind one port."""
