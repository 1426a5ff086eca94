"""The course in the browser: pages on this machine alone, for whoever has the link."""
