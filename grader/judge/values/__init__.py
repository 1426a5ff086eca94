"""Compare, draw and describe arrays."""
