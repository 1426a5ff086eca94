"""What learners handed in, to sources in memory. Nothing is run."""
