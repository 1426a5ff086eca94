"""What a source has for an exercise: the exercise as it was given, an answer, or what is called otherwise."""
