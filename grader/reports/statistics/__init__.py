"""Counts over a class, and item analysis."""
