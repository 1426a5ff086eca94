"""What a check asks and is answered: recorded once on the reference, replayed for every submission."""
