"""Turns a campaign file into a crowdsourced dataset that people can trust."""
