"""Measure the worker process too: put before its command line by `SANDBOX["COMMAND"]`, where CI asks for it.

    COVERAGE_OF_WORKERS=<folder> python -m pytest tests/codemode      # the settings put it there
    python tests/worker_coverage.py <folder>                          # makes files for `coverage combine`

A worker may open no file and write to none, so its data goes into memory that it shares with a file it mapped before.
"""

import mmap
import os
import runpy
import socket
import struct
import sys
from pathlib import Path

SIZE = 1 << 20
ROOM = Path(__file__).resolve().parents[1] / "mcp_server/codemode/worker"


def measure(folder: str, launch: str, config: str) -> None:
    """Run the worker in this process and leave what it executed in the folder, however it ends."""
    shared = Shared(Path(folder) / f"{os.getpid()}.worker")
    leave, worker = os._exit, os.getpid()

    def save_and_leave(code: int) -> None:
        if os.getpid() == worker:
            shared.save()
        leave(code)

    class SavingSocket(socket.socket):
        """Saves whenever the worker waits for its host, which may kill it there."""

        def recv(self, *arguments: int) -> bytes:
            shared.save()
            return super().recv(*arguments)

    shared.warm_up()
    os._exit, socket.socket = save_and_leave, SavingSocket  # type: ignore[misc, assignment]
    shared.measured.start()
    sys.argv = [launch, config]
    runpy.run_path(launch, run_name="__main__")


class Shared:
    """What was measured so far, in memory that outlives the process."""

    def __init__(self, path: Path) -> None:
        import coverage

        with path.open("wb+") as file:
            file.truncate(SIZE)
            self.memory = mmap.mmap(file.fileno(), SIZE)
        os.closerange(3, 256)  # the mapping keeps a descriptor that it does not need, and a worker has none
        self.measured = coverage.Coverage(
            data_file=None, branch=True, include=[f"{ROOM}/*"], config_file=False
        )
        self.known = 0

    def warm_up(self) -> None:
        """Load what saving needs, while files can be read."""
        from coverage import CoverageData

        data = CoverageData(no_disk=True)
        data.add_arcs({__file__: {(1, 2)}})
        data.dumps()

    def save(self) -> None:
        """Write what was executed, if it is more than what is written already."""
        data = self.measured.get_data()
        arcs = sum(len(data.arcs(file) or ()) for file in data.measured_files())
        if arcs > self.known:
            self.known = arcs
            content = data.dumps()
            self.memory[: 4 + len(content)] = struct.pack("!I", len(content)) + content


def collect(folder: str) -> int:
    """Turn what workers left into data files of coverage, and return how many there were."""
    from coverage import CoverageData

    count = 0
    for path in Path(folder).glob("*.worker"):
        content = path.read_bytes()
        (length,) = struct.unpack("!I", content[:4])
        if length:  # else the system killed it, which leaves nothing
            data = CoverageData(basename=f"{os.environ['COVERAGE_FILE']}.worker-{path.stem}")
            data.loads(content[4 : 4 + length])
            data.write()
            count += 1
    return count


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print(f"{collect(sys.argv[1])} workers measured")
    else:
        measure(sys.argv[1], *sys.argv[-2:])
