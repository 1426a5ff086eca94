"""The engine: it runs a course's checks on a learner's code and says what it found. It knows no transformer."""
