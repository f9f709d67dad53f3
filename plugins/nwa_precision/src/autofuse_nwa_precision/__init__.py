"""Precision comparison of two dumps: readers, layouts, metrics, verdict and blame."""
