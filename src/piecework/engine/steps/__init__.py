"""The steps of a pass, one verb a module; they run without Prefect."""
