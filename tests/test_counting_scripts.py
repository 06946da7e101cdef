"""The programs of the counting experiment: resumption after a kill, broken files, and the table with its verdicts."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from counting_files import read_weights
from counting_table import claims, latex_of, spoken, values_of, wide

from solvable_attention.errors import ArgumentError

ROOT = Path(__file__).resolve().parents[1]
MODEL = ("--letters", 5, "--length", 4, "--sequences", 500, "--train-share", 0.7, "--width", 8, "--hidden", 8)
TRAINING = ("--runs", 2, "--optimizer", "adam", "--step", 0.01, "--batch", 8, "--root-seed", 3)


def command_in(folder: Path, epochs: int, *more) -> list[str]:
    files = ("--checkpoint", folder / "c.pt", "--weights", folder / "w.npz", "--curves", folder / "curves.parquet")
    options = (*MODEL, *TRAINING, "--mechanism", "semantic", "--epochs", epochs, *files, *more)
    return [sys.executable, str(ROOT / "scripts/counting_train.py"), *map(str, options)]


def environment():
    return {**os.environ, "PYTHONPATH": str(ROOT / "src")}


def call(folder: Path, epochs: int, *more):
    command = command_in(folder, epochs, *more)
    return subprocess.run(command, capture_output=True, text=True, env=environment(), check=False)


def test_a_killed_training_goes_on_and_ends_in_the_same_weights(tmp_path):
    straight, killed = tmp_path / "straight", tmp_path / "killed"
    straight.mkdir()
    killed.mkdir()
    epochs = 60
    assert call(straight, epochs).returncode == 0
    process = subprocess.Popen(command_in(killed, epochs), env=environment(), stderr=subprocess.DEVNULL)
    while not (killed / "c.pt").exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (killed / "w.npz").exists() and (killed / "c.pt").exists()
    assert call(killed, epochs).returncode == 0
    assert not (killed / "c.pt").exists()
    for ours, theirs in zip(read_weights(straight / "w.npz"), read_weights(killed / "w.npz"), strict=True):
        assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
    curves = [pd.read_parquet(folder / "curves.parquet") for folder in (straight, killed)]
    pd.testing.assert_frame_equal(*curves)


@pytest.mark.parametrize("content", [b"", b"half a checkpoint"])
def test_a_broken_or_foreign_checkpoint_is_not_used(content, tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    whole.mkdir()
    broken.mkdir()
    (broken / "c.pt").write_bytes(content)
    for folder in (whole, broken):
        assert call(folder, 2).returncode == 0
    after = [read_weights(folder / "w.npz")[1] for folder in (whole, broken)]
    assert all(np.array_equal(after[0][name], after[1][name]) for name in after[0])


def test_broken_weights_are_named_with_the_way_out(tmp_path):
    path = tmp_path / "start.npz"
    path.write_bytes(b"PK half")
    with pytest.raises(ArgumentError, match=r"start\.npz: cannot be read as weights .*delete it"):
        read_weights(path)
    np.savez(path, something=np.ones(3))
    with pytest.raises(ArgumentError, match=r"start\.npz: holds no weights"):
        read_weights(path)
    np.savez(path, before=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ArgumentError, match=r"start\.npz: cannot be read"):
        read_weights(path)
    result = call(tmp_path, 2, "--start", path, "--noise", 0.001)
    assert result.returncode != 0 and len(result.stderr.splitlines()) == 1 and "start.npz" in result.stderr


def test_a_second_stage_needs_start_and_noise(tmp_path):
    result = call(tmp_path, 2, "--noise", 0.001)
    assert result.returncode != 0
    assert result.stderr.splitlines() == ["error: noise: is allowed with --start, and needed there"]


# The table


@pytest.fixture
def tables():
    """Two runs of each mechanism at the published length, with the published means."""
    rows = [
        {"mechanism": mechanism, "stage": stage, "run": run}
        for mechanism in ("positional", "semantic") for stage in (1, 2) for run in (0, 1)
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    accuracy = frame.mechanism.map({"positional": 0.9988, "semantic": 0.9990}) + 1e-4 * frame.run
    far = frame.mechanism.map({"positional": 158.0, "semantic": 163.0}) + 2 * frame.run
    near = frame.mechanism.map({"positional": 0.6, "semantic": 0.4}) + 0.02 * frame.run
    moved = far.where(frame.stage == 1, near)
    epochs = frame.stage.map({1: 200, 2: 100})
    return {
        "accuracies": frame.assign(validation_accuracy=accuracy),
        "distances": frame.assign(summed=moved, whole=moved / 3),
        "curves": frame.assign(epoch=epochs),
    }


def test_published_numbers_are_reproduced_at_the_published_length_only(tables):
    rows = pd.DataFrame(claims(tables))
    assert set(rows.verdict) == {"reproduced"} and rows.published.notna().sum() == 6
    short = {**tables, "curves": tables["curves"].assign(epoch=20)}
    verdicts = pd.DataFrame(claims(short))
    held = verdicts[verdicts.published.notna()]
    assert set(held.verdict) == {"not tested (shortened training)"}
    far = {**tables, "distances": tables["distances"].assign(summed=100.0)}
    verdicts = pd.DataFrame(claims(far)).set_index("claim").verdict
    assert verdicts["distance in stage 2, summed, semantic"] == "not reproduced"
    assert (verdicts[verdicts.index.str.endswith("distances summed")] == "not reproduced").all()
    poor = {**tables, "accuracies": tables["accuracies"].assign(validation_accuracy=0.99)}
    verdicts = pd.DataFrame(claims(poor)).set_index("claim").verdict
    assert verdicts[verdicts.index.str.contains("learns to count")].eq("not reproduced").all()


def test_the_table_holds_means_and_deviations(tables):
    values = values_of(tables)
    one = values[(values.mechanism == "semantic") & (values.number == "distance in stage 2, summed")].iloc[0]
    assert one["mean"] == pytest.approx(0.41) and one["std"] == pytest.approx(0.02 / 2**0.5)
    assert (one.published, one.published_std) == (0.46, 0.24)
    table = wide(values)
    assert table.shape == (6, 5) and table["semantic"].iloc[3] == "0.410 ± 0.014"
    assert table["semantic, published"].iloc[5] == "–"
    assert r"0.410 $\pm$ 0.014" in latex_of(values) and "±" not in latex_of(values)


@pytest.mark.parametrize(
    ("mean", "std", "text"),
    [(0.99885, 0.00045, "0.99885 ± 0.00045"), (159.0, 4.0, "159.0 ± 4.0"), (np.nan, np.nan, "–"), (1.0, 0.0, "1")],
)
def test_numbers_are_spoken_with_two_digits_of_their_deviation(mean, std, text):
    assert spoken(mean, std) == text
