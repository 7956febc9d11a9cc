"""The database file: its schema, how it is opened, written, read and upgraded."""
