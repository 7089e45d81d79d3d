"""What a campaign's files are called; apart, so that knowing a name costs nothing."""

FILE_NAME = "piecework.db"
