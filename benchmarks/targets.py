"""What was measured beside what the contract promises."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field


def lower_quartile(values: Sequence[float]) -> float:
    """Return what a quarter of the values stay below: other work on the machine only ever adds to a time."""
    return statistics.quantiles(values, n=4)[0]


@dataclass
class Report:
    """Lines of a table with their targets, and what was missed.

    `allowance` is the factor by which a number may pass its target before `--check` calls it missed: the targets hold for
    two cores of one's own, and a machine that others use too takes half as long again.
    """

    allowance: float = 1.5
    missed: list[str] = field(default_factory=list)

    def head(self, what: str) -> None:
        """Print the head of a table."""
        print(f"\n| {what} | found | target | share of it | |\n|---|---|---|---|---|")

    def line(self, what: str, found: float, unit: str, target: float, *, least: bool = False) -> None:
        """Print a number with its target, at most or at least that, and whether it holds."""
        holds = found >= target if least else found <= target
        beyond = found * self.allowance < target if least else found > target * self.allowance
        if beyond:
            self.missed.append(what)
        word = "holds" if holds else "MISSED" if beyond else "missed, within the allowance"
        share = f"{found / target:.2f}" if target else ""
        limit = f"at {'least' if least else 'most'} {target:g} {unit}".strip()
        print(f"| {what} | {found:.3g} {unit} | {limit} | {share} | {word} |", flush=True)

    def note(self, what: str, found: float, unit: str) -> None:
        """Print a number that has no target."""
        print(f"| {what} | {found:.3g} {unit} | | | |", flush=True)
