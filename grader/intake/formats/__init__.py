"""The containers in which work is handed in, one a file."""
