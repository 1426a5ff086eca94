"""The commands of `grader`, one a file."""
