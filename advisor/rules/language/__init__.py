"""Rule files: parsed, checked and turned into records."""
