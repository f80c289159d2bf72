"""Writes docs/measured.md: what each benchmark printed, in one run on one machine.

    python -m benchmarks.measured [WORDS]

With words, only the benchmarks whose command holds one of them are run again; the others keep what the page says.
"""

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "measured.md"
SECTIONS = (
    (
        "One program in place of many calls",
        "round_trips",
        "The demo's task of reminding everybody who is late.",
    ),
    ("Tokens", "catalog", "What a model reads before it does anything, as a plain list and in Code Mode."),
    (
        "Runs of code",
        "sandbox",
        "What a run, an inner call and a large value cost, beside Python doing the same.",
    ),
    (
        "Many tools",
        "tools",
        "Listing and calling at 10, 100 and 500 tools, as ratios to a plain Django view.",
    ),
    ("The log", "log cost", "Calls per second of the processor with the log, of those without."),
    ("The wire", "protocol --seconds 1 --rounds 2", "Requests per second, as ratios to a plain Django view."),
)
HEAD = """<!-- Written by `python -m benchmarks.measured`. -->

# What we measured

Compare the numbers of one table with each other: all come from one run, on two shared cores. Times of another machine are
different, ratios hardly. Each table says the command that reproduces it. Which targets are shown and which are open stands in
`tests/contract/Q.txt`.
"""


def run(command: str) -> str:
    """Return what a benchmark printed."""
    print(command, flush=True)
    done = subprocess.run(
        [sys.executable, "-m", *f"benchmarks.{command}".split()],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def kept() -> dict[str, str]:
    """Return what the page says now, by command."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    return dict(re.findall(r"```console\npython -m benchmarks\.(.+)\n```\n\n```text\n((?:.*\n)*?)```", text))


def main() -> None:
    """Run the chosen benchmarks and write the page."""
    old, parts = kept(), [HEAD]
    for title, command, sentence in SECTIONS:
        chosen = not sys.argv[1:] or any(word in command for word in sys.argv[1:])
        said = run(command) if chosen else old.get(command, "").strip()
        if said:
            shown = f"```console\npython -m benchmarks.{command}\n```\n\n```text\n{said}\n```"
            parts.append(f"## {title}\n\n{sentence}\n\n{shown}\n")
    PAGE.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
