"""The report written: HTML, Markdown, text and JSON."""
