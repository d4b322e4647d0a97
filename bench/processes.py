"""The parent's side of a worker: start it, let it run one round, stop it in between."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


class WorkerError(Exception):
    """A worker ended, or said nothing for too long; the message says why, as far as is known."""


class Worker:
    """A process with one contestant. Stopped (SIGSTOP) but for the calls of :meth:`ask`."""

    def __init__(self, config: Mapping[str, Any], folder: Path, timeout: float) -> None:
        """Start it and wait until it has loaded its network; ``report`` is what it says about that.

        Raises:
            WorkerError: it refuses the network, or dies.
        """
        name = config["contestant"]
        task = folder / f"{name}.json"
        task.write_text(json.dumps(config))
        self._stderr = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - closed with the worker
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.worker", str(task)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            cwd=ROOT,
            start_new_session=True,  # Ctrl-C is the parent's to handle; and see worker.take_precedence
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"},
        )
        self._pending = b""
        try:
            self.report = self._loaded(timeout)
            self._process.send_signal(signal.SIGSTOP)
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def round(self, seconds: float, least: int, timeout: float) -> dict[str, Any]:
        """Resume it, let it run inferences for about ``seconds`` but at least ``least``, stop it again."""
        assert self._process.stdin is not None
        self._process.send_signal(signal.SIGCONT)
        try:
            self._process.stdin.write(f"{seconds} {least}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            raise WorkerError(self._why_dead()) from None
        answer = self._answer(timeout)
        self._process.send_signal(signal.SIGSTOP)
        return answer

    def close(self) -> None:
        """End the process; safe to call twice."""
        if self._process.poll() is None:
            self._process.kill()  # also ends a stopped process
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

    def _loaded(self, timeout: float) -> dict[str, Any]:
        report = self._answer(timeout)
        if "refused" in report:
            raise WorkerError(report["refused"])
        return report

    def _answer(self, timeout: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        deadline = time.monotonic() + timeout
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._pending:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise WorkerError(f"no answer within {timeout:.0f} s")
                chunk = os.read(self._process.stdout.fileno(), 1 << 20)
                if not chunk:
                    raise WorkerError(self._why_dead())
                self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _why_dead(self) -> str:
        code = self._process.wait()
        self._stderr.seek(0)
        said = [line for line in self._stderr.read().splitlines() if line.strip()]
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        return f"{how}: {said[-1].strip()}" if said else how
