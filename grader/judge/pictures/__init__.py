"""Pictures of a learner's answers beside the reference's."""
