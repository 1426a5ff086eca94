"""Everything that is drawn on a terminal."""
