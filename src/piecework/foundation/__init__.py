"""What knows nothing of crowdsourcing: servers, clients, sign-in, spans, SQLite's files, CSV."""
