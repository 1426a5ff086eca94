"""Questions in the browser: the quiz, open questions, and the log that both keep."""
