"""The server core of marketplace, review page and emulator; it knows none of them."""
