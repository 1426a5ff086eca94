"""Run a course's checks on a learner's code and say what is wrong. The engine knows no transformer."""
