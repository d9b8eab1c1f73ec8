"""State graphs in 1, 2 and 4 processes: seconds, memory, and a model of what more would take.

    python python/benches/state_graphs.py [--rows FILE] [--plot FILE.svg] [--quick]

`ggp` must be on the path. Rows that FILE has are not measured again; new ones are added to it. The
plot needs matplotlib. The largest graph has 2^30 positions and takes 5 GB and some minutes.

The model: every position costs CPU time once, and every key that crosses costs CPU time once
more; both are fitted to the rows. A process holds its share of the positions.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GAMES = Path(__file__).parents[2] / "games"
# Machines of the estimate: processors, and bytes a second of their network.
PROCESSORS, NETWORK = 16, 3e9
# The maximum number of children in a round, and the seconds for which processes wait for each other in it.
ROUND, WAIT = 1 << 22, 2e-3


def counters(counts: int, values: int) -> str:
    """Rules of counters that can be raised one at a time: values ** counts positions."""
    after = " ".join(f"(after {n} {n + 1})" for n in range(values - 1))
    begin = " ".join(f"(init (at c{c} 0))" for c in range(counts))
    return f"""(role player) {after} {begin}
        (<= (legal player (raise ?c)) (true (at ?c ?n)) (after ?n ?m))
        (<= (next (at ?c ?m)) (does player (raise ?c)) (true (at ?c ?n)) (after ?n ?m))
        (<= (next (at ?c ?n)) (true (at ?c ?n)) (does player (raise ?d)) (distinct ?c ?d))
        (<= open (true (at ?c ?n)) (after ?n ?m)) (<= terminal (not open))
        (<= (goal player 100) (not open)) (<= (goal player 0) open)"""


def measure(rules: str, symmetry: str, processes: int) -> dict[str, float]:
    """One search; all but the supervising command counts."""
    command = ["ggp", "--json", "--quiet", "solve", rules, "--method", "breadth-first-packed", "--whole"]
    command += ["--symmetry", symmetry, "--processes", str(processes), "--budget-memory", "8000"]
    began = time.monotonic()
    search = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert search.stdout is not None
    answer = json.load(search.stdout)
    _, status, used = os.wait4(search.pid, 0)
    assert status == 0 and answer["all_seen"], answer
    total = answer["statistics"]["total"]
    return {
        "positions": total["generated"],
        "children": total["arcs"],
        "wall": time.monotonic() - began,
        "cpu": used.ru_utime + used.ru_stime,
        "memory": used.ru_maxrss * 1024,
    }


def fit(rows: list[dict[str, float]]) -> tuple[float, float]:
    """CPU seconds of a position, and of a key that crosses, by least squares of the relative errors."""
    a = [row["positions"] / row["cpu"] for row in rows]
    b = [crossing(row) / row["cpu"] for row in rows]
    aa, bb, ab = (sum(x * y for x, y in zip(*pair)) for pair in ((a, a), (b, b), (a, b)))
    determinant = aa * bb - ab * ab
    return (sum(a) * bb - sum(b) * ab) / determinant, (sum(b) * aa - sum(a) * ab) / determinant


def crossing(row: dict[str, float]) -> float:
    return row["children"] * (row["processes"] - 1) / row["processes"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--quick", action="store_true", help="the smallest graph only")
    options = parser.parse_args()
    rows: list[dict] = json.loads(options.rows.read_text()) if options.rows and options.rows.exists() else []
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "counters.kif"
        large.write_text(counters(6, 32))
        graphs = [
            ("senku up to symmetry", str(GAMES / "senku.kif"), "on", (1, 2, 4)),
            ("senku", str(GAMES / "senku.kif"), "off", (1, 2, 4)),
            ("six counters to 31", str(large), "off", (1, 2)),
        ]
        for name, rules, symmetry, counts in graphs[: 1 if options.quick else None]:
            for processes in counts:
                if not any((row["graph"], row["processes"]) == (name, processes) for row in rows):
                    row = measure(rules, symmetry, processes)
                    rows.append({"graph": name, "processes": processes, **row})
                    if options.rows:
                        options.rows.write_text(json.dumps(rows, indent=1) + "\n")
    report(rows)
    if options.plot:
        plot(rows, options.plot)


def report(rows: list[dict]) -> None:
    print("| graph | positions | processes | wall s | CPU s | positions a second | bytes a position | model, CPU s |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    fits = {}
    for row in rows:
        name = row["graph"]
        fits[name] = fit([other for other in rows if other["graph"] == name])
        position, key = fits[name]
        bytes_each = row["memory"] * row["processes"] / row["positions"]
        model = position * row["positions"] + key * crossing(row)
        print(
            f"| {name} | {row['positions']:,} | {row['processes']} | {row['wall']:.1f} | {row['cpu']:.1f}"
            f" | {row['positions'] / row['wall'] / 1e6:.2f} M | {bytes_each:.1f} | {model:.1f} |"
        )
    for name, (position, key) in fits.items():
        print(f"{name}: {1e9 * position:.0f} ns a position, {1e9 * key:.1f} ns more for a key that crosses")
    print("| positions | machines | memory each | crosses each | compute | network | waits | hours |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    # The graph of the pegs is the model for large ones: eight bytes a position, seven children.
    position, key = fits.get("senku", next(iter(fits.values())))
    like = next(row for row in rows if row["graph"] == "senku" or len(fits) == 1)
    children = like["children"] / like["positions"]
    bytes_each = like["memory"] / like["positions"]
    for positions in (1e10, 1e12):
        for machines in (16, 256):
            share = positions / machines
            compute = share * (position + children * key) / PROCESSORS
            network = share * children * 8 / NETWORK
            waits = positions * children / ROUND * WAIT
            hours = (compute + network + waits) / 3600
            print(
                f"| {positions:.0e} | {machines} | {share * bytes_each / 1e9:,.0f} GB"
                f" | {share * children * 8 / 1e9:,.0f} GB"
                f" | {compute / 3600:.2f} h | {network / 3600:.2f} h | {waits / 3600:.2f} h | {hours:.2f} |"
            )


def plot(rows: list[dict], path: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "ggp"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    for name in dict.fromkeys(row["graph"] for row in rows):
        own = [row for row in rows if row["graph"] == name]
        position, key = fit(own)
        colour = axes.plot(
            [row["processes"] for row in own], [row["cpu"] / row["positions"] * 1e9 for row in own], "o", label=name
        )[0].get_color()
        counts = [1, 1.5, 2, 3, 4, 6, 8, 16]
        children = own[0]["children"] / own[0]["positions"]
        axes.plot(counts, [1e9 * (position + key * children * (n - 1) / n) for n in counts], "--", color=colour)
    axes.set_xscale("log", base=2)
    axes.set_xticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("processes")
    axes.set_ylabel("CPU nanoseconds a position")
    axes.legend(title="measured (points), model (dashed)")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    sys.exit(main())
