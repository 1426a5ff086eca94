"""Read and check the questions of a course."""
