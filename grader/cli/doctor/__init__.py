"""`learn doctor` and `grader doctor`."""
