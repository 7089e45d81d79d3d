"""The marketplace's state and its changes: accounts, HITs, money, time."""
