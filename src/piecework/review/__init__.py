"""The review page: what waits for a person, card by card. It spends no money."""
