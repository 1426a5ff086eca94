"""Grade the grader."""
