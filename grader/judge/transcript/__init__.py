"""What a check asked and was answered: recorded once, replayed for every submission."""
