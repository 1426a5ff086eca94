"""One result, several renderings: one format a file."""
