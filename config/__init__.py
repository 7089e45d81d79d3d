"""Campaign files (TOML) and the code that reads them."""
