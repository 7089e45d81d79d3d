"""What a campaign will probably cost and give, told by rehearsing it many times."""
