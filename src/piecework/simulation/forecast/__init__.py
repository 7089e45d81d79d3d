"""What a campaign will probably cost and yield, estimated from many rehearsals."""
