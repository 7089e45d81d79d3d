"""The pass: what is due, in one order, and carried out; without Prefect."""
