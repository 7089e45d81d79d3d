"""What a marketplace holds and what happens to it: accounts, HITs, money, time."""
