"""What every offline market shares: its clock, faults, state, requests and serving."""
