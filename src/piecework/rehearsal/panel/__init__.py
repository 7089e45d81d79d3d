"""A simulated panel: it sends people by signed links and takes them and a list back."""
