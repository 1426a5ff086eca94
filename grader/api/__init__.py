"""What the files of a course may import: a promise that is kept across versions."""
