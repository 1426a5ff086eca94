"""Folders to model: reads a course's files without running any of its content."""
