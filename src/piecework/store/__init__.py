"""The memory of a campaign: SQLite, migrations, intents, raw answers, decisions."""
