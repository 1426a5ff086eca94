"""Start, own, ask and stop the worker processes."""
