"""click only: parse, one library call, one renderer."""
