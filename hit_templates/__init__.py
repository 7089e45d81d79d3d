"""One folder a task: page, rules, example, notes; and the one renderer."""
