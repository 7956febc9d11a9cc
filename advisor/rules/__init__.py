"""Advice as data: rule files become records, records become one SELECT over all kernels."""
