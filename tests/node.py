"""Node packages that judge what we write: the TypeScript compiler, a tokenizer with its ranks, and axe for pages."""

import fcntl
import functools
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / ".ci" / "cache" / "node"
JUDGE = Path(__file__).parent / "cases" / "judge.mjs"
PACKAGES = {"typescript": "5.9.3", "gpt-tokenizer": "4.0.0", "axe-core": "4.14.1"}

_COUNT = """
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
const { encode } = createRequire(process.cwd() + "/x.js")("gpt-tokenizer/encoding/o200k_base");
console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map((text) => encode(text).length)));
"""


@functools.cache
def missing() -> str:
    """Return why Node's packages cannot be used, "" when they can; installs them the first time."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        return "npm is not installed"
    FOLDER.mkdir(parents=True, exist_ok=True)
    # Several test processes may come here at once; one installs, the others wait for it.
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if any(_installed(name) != version for name, version in PACKAGES.items()):
            command = [
                "npm",
                "install",
                "--prefix",
                str(FOLDER),
                "--no-audit",
                "--no-fund",
                "--no-save",
                "--silent",
            ]
            subprocess.run(
                [*command, *(f"{name}@{version}" for name, version in PACKAGES.items())], check=True
            )
    return ""


def run_node(*arguments: str, given: Any) -> Any:
    """Return what a Node program prints as JSON, after reading `given` as JSON."""
    command = ["node", *arguments]
    done = subprocess.run(command, cwd=FOLDER, input=json.dumps(given), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[:2000])
    return json.loads(done.stdout)


def count_tokens(texts: list[str]) -> list[int]:
    """Return the o200k tokens of each text."""
    found: list[int] = run_node("--input-type=module", "--eval", _COUNT, given=texts)
    return found


def _installed(name: str) -> str:
    manifest = FOLDER / "node_modules" / name / "package.json"
    return json.loads(manifest.read_text())["version"] if manifest.exists() else ""
