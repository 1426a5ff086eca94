"""The commands of `grader` that come after grading: reports, a human's word, exports, the way back."""
