"""Untrusted side: the processes that run a learner's code. Imports nothing else of this program."""
