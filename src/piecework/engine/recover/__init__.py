"""Copies, second stores and moved marketplaces: recognise them, and make both sides agree."""
