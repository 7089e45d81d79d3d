"""Results that other tools collected, as a campaign of their own."""
