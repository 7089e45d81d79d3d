"""A Prolific and a CloudResearch Connect to test against, without people or money."""
