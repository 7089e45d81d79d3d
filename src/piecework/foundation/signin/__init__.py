"""Signing in at a provider of OpenID Connect, for every server of piecework."""
