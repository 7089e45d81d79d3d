"""Generate the items files and pictures of example campaigns, for developers."""
