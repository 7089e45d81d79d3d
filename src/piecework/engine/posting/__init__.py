"""HITs on the platform: posted, looked for, closed, and who may take them."""
