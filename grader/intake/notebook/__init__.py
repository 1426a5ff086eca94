"""A notebook to one module."""
