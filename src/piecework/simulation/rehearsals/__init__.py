"""A rehearsal: pictures, marketplace and crowd, without Prefect."""
