"""The pass: find what is due and do it, in one order, without Prefect."""
