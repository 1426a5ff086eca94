"""Prove each layer of isolation by an attempt to break it."""
