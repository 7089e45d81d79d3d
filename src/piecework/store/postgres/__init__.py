"""Stores in PostgreSQL.

Most stores are files, and an extra of the package installs the driver. So modules outside
of this folder import it only where a store's address has a URL.

Raises:
    ConfigError: the driver is not installed.
"""

from piecework.domain.errors import load_extra

load_extra("psycopg", extra="sql", use="a store in PostgreSQL")
