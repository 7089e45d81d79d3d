"""The server core shared by the marketplace, the review page and the emulator."""
