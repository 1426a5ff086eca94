"""Open questions: answered in prose, marked by the learner."""
