"""A worker made by exec instead of fork, where forking a process that holds torch is not safe (macOS), or not at hand.

    python -P -S -s spawn_main.py RPC_FD OUTPUT_FD ARRAYS POLICY_JSON SYS_PATH_JSON

It imports the array library itself (about a second) and then lives as a forked worker does. Single use.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(rpc_fd: int, output_fd: int, arrays: str, policy: dict[str, object], paths: list[str]) -> None:
    sys.path[:0] = paths
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    from grader.worker import isolation, preload, serve

    preload.import_arrays(arrays)
    isolation.prepare()
    sys.path.pop()
    sys.argv[:] = [""]
    asked = serve.read_policy(policy)
    serve.become_worker(rpc_fd, output_fd, asked, isolation.foresee(asked))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4]), json.loads(sys.argv[5]))
