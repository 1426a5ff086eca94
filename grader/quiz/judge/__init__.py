"""A language model that suggests marks for an open answer: optional, off unless it is set up, never in a score."""
