"""A campaign: assembled from its file, checked, priced, dealt, bound and opened."""
