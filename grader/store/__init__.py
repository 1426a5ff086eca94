"""The only code that writes learner state."""
