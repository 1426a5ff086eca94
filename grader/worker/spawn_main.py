"""Start one worker by exec, where forking a process that has imported torch is not safe (macOS).

    python -P -S -s spawn_main.py RPC_FD OUTPUT_FD ARRAYS POLICY_JSON SYS_PATH_JSON

It imports the array library itself (about a second) and then serves as a forked worker does.
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path


def main(rpc_fd: int, output_fd: int, arrays: str, policy_values: dict[str, object], paths: list[str]) -> None:
    """Import the array library, then become the worker. Never returns."""
    sys.path[:0] = paths
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    from grader.worker import isolation, preload, serve
    from grader.worker.watch.call_record import take_away

    take_away(gc.get_objects)
    preload.import_array_library(arrays)
    isolation.prepare()
    sys.path.pop()
    sys.argv[:] = [""]
    policy = serve.read_policy(policy_values)
    serve.hide_unreadable(policy.readable)
    serve.run_worker(rpc_fd, output_fd, policy, isolation.prepare_policy(policy))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4]), json.loads(sys.argv[5]))
