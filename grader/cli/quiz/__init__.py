"""The commands of `learn quiz`, one a file, and the dialogue that they share."""
