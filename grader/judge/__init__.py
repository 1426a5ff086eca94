"""Trusted side: run hidden checks against a worker, name mistakes, give the score."""
