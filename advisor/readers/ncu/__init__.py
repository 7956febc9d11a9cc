"""Readers of Nsight Compute: reports, CSV pages and text pages."""
