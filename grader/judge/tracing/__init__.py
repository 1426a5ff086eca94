"""Watch a function line by line, and find the line where right ends."""
