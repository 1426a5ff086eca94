"""Known mistakes, as course files write them: the lines in place of a reference's, and what is said of each."""
