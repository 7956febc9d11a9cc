"""Charts as geometry: scales, roofs, marks and labels, before any template runs."""
