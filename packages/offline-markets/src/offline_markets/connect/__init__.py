"""An offline CloudResearch Connect: its HTTP interface, participants and money."""
