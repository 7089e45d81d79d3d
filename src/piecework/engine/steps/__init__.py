"""The steps of a pass, one verb per module; they run without Prefect."""
