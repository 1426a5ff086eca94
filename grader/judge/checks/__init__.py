"""Hidden checks as pytest items."""
