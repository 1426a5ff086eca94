"""Filling in the gradebooks that learning platforms export: Canvas and Moodle."""
