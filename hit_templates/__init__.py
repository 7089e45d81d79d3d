"""One folder per task (page, rules, example, notes) and the renderer they share."""
