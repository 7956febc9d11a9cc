"""A folder of pages over all runs of a database: what is on them, and how they are written."""
