"""Name the mistake."""
