"""What Gradescope's "Autograder Specifications" allow in results.json, as far as we use it."""

from __future__ import annotations

import json

TOP = {"score", "execution_time", "output", "output_format", "visibility", "stdout_visibility", "extra_data", "tests"}
TEST = {"score", "max_score", "status", "name", "name_format", "number", "output", "output_format", "visibility"}
FORMATS = {"text", "html", "simple_format", "md", "ansi"}


def assert_is_gradescope(result: dict) -> None:
    """Check that it is the documented format, and nothing else."""
    json.loads(json.dumps(result, allow_nan=False))
    assert set(result) <= TOP and {"tests", "output"} <= set(result)
    assert result["stdout_visibility"] == "hidden"
    assert result["visibility"] in ("visible", "hidden", "after_due_date", "after_published")
    for test in result["tests"]:
        assert set(test) <= TEST and test["output_format"] in FORMATS and test["name_format"] in FORMATS
        assert test.get("status", "passed") in ("passed", "failed")
        assert ("score" in test) == ("max_score" in test)
        assert 0 <= test.get("score", 0) <= test.get("max_score", 0)
        assert all(isinstance(test[key], str) for key in ("name", "output", "number"))
