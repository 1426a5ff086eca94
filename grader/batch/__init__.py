"""Grade a class: submissions to results and their files."""
