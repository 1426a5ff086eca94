"""THEIR process: runs a learner's code and answers calls. Imports nothing else of ours."""
