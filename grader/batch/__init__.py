"""Submissions to results: find them, judge them, write what came out."""
