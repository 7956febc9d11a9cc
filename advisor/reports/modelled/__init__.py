"""What a model answers, as text, JSON, CSV, HTML and Markdown."""
