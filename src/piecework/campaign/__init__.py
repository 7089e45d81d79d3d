"""Assemble a campaign from its file; check, price, deal, bind and open it."""
