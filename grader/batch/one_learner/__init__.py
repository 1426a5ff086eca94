"""Read, judge and keep what one learner handed in."""
