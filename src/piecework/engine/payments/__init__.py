"""Payments beside rewards: bonuses, compensations, reversed rejections, other markets' charges."""
