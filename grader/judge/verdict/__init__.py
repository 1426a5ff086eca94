"""From the outcomes of checks to findings, sentences and a score."""
