"""The grader packed for somebody else's machine: an autograder for Gradescope."""
