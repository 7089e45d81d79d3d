"""HITs on the platform: post them, find them, close them, choose who may take them."""
