"""The bridge between a marketplace and Connect.

It makes projects for open HITs, carries out decisions about finished assignments, and
pays bonuses. One process does so at a time (`marketplace.bridging.lock`).
"""
