"""For people who write lessons: create them, prove them."""
