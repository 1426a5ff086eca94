"""A judge that stays: saved files are examined at once, and a newer save replaces an examination that still runs."""
