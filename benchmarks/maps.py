"""Wall time of the two maps of figure 3 through Snakemake, from nothing, and what of it is not spent in the jobs."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click
import pandas as pd
import yaml

ROOT = Path(__file__).resolve().parents[1]


@click.command(help=__doc__)
@click.option("--jobs", default=2, show_default=True, help="Cores, as in snakemake -j.")
@click.option("--seeds", default=4, show_default=True, help="Data sets of the simulation map.")
@click.option("--map", "names", type=click.Choice(["theory", "simulation"]), multiple=True,
              default=["theory", "simulation"], help="Which map; repeat for both.  [default: both]")  # fmt: skip
def main(jobs, seeds, names):
    with tempfile.TemporaryDirectory(dir=ROOT / "results", prefix="timing-") as folder:
        results = Path(folder).relative_to(ROOT)
        overlay = Path(folder) / "overlay.yaml"
        overlay.write_text(yaml.safe_dump(overlay_of(results, seeds)), encoding="utf-8")
        for name in names:
            seconds = run(f"{name}_map", overlay, jobs)
            parts = benchmark_files(results, name)
            each = f", {seconds / seeds:.0f} s for each of {seeds} data sets" if name == "simulation" else ""
            click.echo(f"{name} map: {seconds:.0f} s with -j {jobs}{each}")
            click.echo(f"  {len(parts)} jobs, {parts.s.sum():.0f} s in them, {parts.cpu_time.sum():.0f} s of processor")
            click.echo(f"  Snakemake and waiting: {seconds - parts.s.sum() / jobs:.0f} s")


def overlay_of(results: Path, seeds: int) -> dict:
    part = {"seeds": seeds}
    experiments = {"diagram": {"simulations": part, "baseline": part}}
    return {"results": str(results), "figures": str(results / "figures"), "experiments": experiments}


def run(target: str, overlay: Path, jobs: int) -> float:
    command = [sys.executable, "-m", "snakemake", target, "-j", str(jobs), "--nolock", "--configfile", str(overlay)]
    started = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return time.perf_counter() - started


def benchmark_files(results: Path, name: str) -> pd.DataFrame:
    """One row a job: wall seconds s and processor seconds cpu_time."""
    folder = ROOT / "logs" / results / ("theory" if name == "theory" else "simulations")
    files = sorted(folder.rglob("*.benchmark.tsv"))
    return pd.concat([pd.read_csv(path, sep="\t") for path in files], ignore_index=True)


if __name__ == "__main__":
    main()
