"""A copy of a course for learners, without its hidden parts."""
