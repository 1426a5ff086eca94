"""Choose what is asked, hold a session, and schedule repetitions."""
