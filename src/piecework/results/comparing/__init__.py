"""What other rules would have decided about answers that are there."""
