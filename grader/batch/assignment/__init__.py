"""The file that says all about an assignment, and its extensions."""
