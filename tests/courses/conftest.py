"""The courses in here are content to be judged, not tests to be collected."""

collect_ignore_glob = ["*"]
