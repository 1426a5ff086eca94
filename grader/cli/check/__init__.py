"""The commands of `learn` that show what the judge says of your code, one a file."""
