"""Output for a terminal: text, layout, Markdown, progress."""
