"""From answers to a score that can be explained."""
