"""The commands of `learn`, one a file."""
