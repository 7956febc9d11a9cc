"""From the database to a report: one record, then text, HTML, Markdown or JSON."""
