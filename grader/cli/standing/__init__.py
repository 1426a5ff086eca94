"""The commands of `learn` that say where one stands, one a file."""
