"""A lake: runs as Parquet files that any number of machines write, and DuckDB reads as tables."""
