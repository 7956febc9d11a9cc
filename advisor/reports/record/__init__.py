"""The report as one record: everything that any format shows, in stored units."""
