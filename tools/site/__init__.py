"""The site that `make docs` builds with MkDocs."""
