"""The models that checks make and are given: build them, fill them, still them, move them to a fake device."""
