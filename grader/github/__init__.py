"""A class on GitHub: the repositories of instructor and learners, and what the instructor's workflow runs there."""
