"""An offline Prolific: its API, its participants and its money, in virtual time."""
