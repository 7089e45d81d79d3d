"""Turn accepted answers into edits, aggregates, datasets and reports. Pure."""
