"""The programs of the counting experiment: resumption after a kill, broken files, and the table with its verdicts."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from counting_drawing import departures, protocol_of, spoken, wrong_counts
from counting_files import read_weights
from counting_measure import checked
from counting_table import claims, latex_of, values_of, wide
from published import COUNTING_PROTOCOL

from solvable_attention.counting import CountingTask
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
    again = call(killed, epochs)
    gone_on = re.search(r"going on after epoch (\d+)", again.stderr)
    assert again.returncode == 0 and 1 <= int(gone_on[1]) < epochs
    assert not (killed / "c.pt").exists()
    for ours, theirs in zip(read_weights(straight / "w.npz"), read_weights(killed / "w.npz"), strict=True):
        assert all(np.array_equal(ours[name], theirs[name]) for name in ours)
    curves = [pd.read_parquet(folder / "curves.parquet") for folder in (straight, killed)]
    pd.testing.assert_frame_equal(*curves)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """The bytes that a killed training leaves."""
    folder = tmp_path_factory.mktemp("killed")
    process = subprocess.Popen(command_in(folder, 1000), env=environment(), stderr=subprocess.DEVNULL)
    while not (folder / "c.pt").exists() and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    process.wait()
    return (folder / "c.pt").read_bytes()


def weights_after(folder: Path, *more):
    folder.mkdir()
    result = call(folder, 2, *more)
    assert result.returncode == 0, result.stderr
    return read_weights(folder / "w.npz")[1], result.stderr


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return weights_after(tmp_path_factory.mktemp("whole") / "run")[0]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda whole: b"",
        lambda whole: bytes(1000),
        lambda whole: b"half a checkpoint",
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole,  # of another number of epochs
    ],
)
def test_a_broken_or_foreign_checkpoint_is_not_used(spoil, checkpoint, expected, tmp_path):
    (tmp_path / "spoilt.pt").write_bytes(spoil(checkpoint))
    found, said = weights_after(tmp_path / "spoilt", "--checkpoint", tmp_path / "spoilt.pt")
    assert "is broken or of another training" in said
    assert all(np.array_equal(expected[name], found[name]) for name in expected)


def test_broken_weights_are_named_with_the_way_out(tmp_path):
    path = tmp_path / "start.npz"
    np.savez(path, something=np.ones(300))
    whole = path.read_bytes()
    for content in (b"", b"PK half", whole[:200], whole[: len(whole) // 2]):
        path.write_bytes(content)
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


@pytest.mark.parametrize("example", ["[0,1", "[0,1,2]", "[0,1,2,5]", "[true,0,1,2]", "{}"])
def test_examples_are_letters_of_the_task(example):
    task = CountingTask(letters=5, length=4)
    assert checked("[0,1,2,4]", task) == [0, 1, 2, 4]
    with pytest.raises(ArgumentError, match="allowed is a list of 4 letters 0 to 4") as refusal:
        checked(example, task)
    assert example in str(refusal.value)


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
    return {
        "accuracies": frame.assign(validation_accuracy=accuracy),
        "distances": frame.assign(summed=moved, whole=moved / 3),
        "curves": frame.assign(epoch=1, train_loss=0.1),
    }


def test_published_numbers_are_held_against_trainings_of_the_published_kind_only(tables):
    full = {**COUNTING_PROTOCOL, "runs": 2}
    assert departures(full) == {"runs": (2, 10)}
    rows = pd.DataFrame(claims(tables, COUNTING_PROTOCOL))
    assert set(rows.verdict) == {"reproduced"} and rows.published.notna().sum() == 6
    short = {**COUNTING_PROTOCOL, "first": {**COUNTING_PROTOCOL["first"], "epochs": 20}}
    assert set(pd.DataFrame(claims(tables, short)).verdict) == {"not tested (first.epochs not as published)"}
    assert protocol_of(short) == "Trained as published but for first.epochs = 20 (published: 200)."
    far = {**tables, "distances": tables["distances"].assign(summed=100.0)}
    verdicts = pd.DataFrame(claims(far, COUNTING_PROTOCOL)).set_index("claim").verdict
    assert verdicts["distance in stage 2, summed, semantic"] == "not reproduced"
    assert (verdicts[verdicts.index.str.endswith("stage 1, summed")] == "not reproduced").all()
    poor = {**tables, "accuracies": tables["accuracies"].assign(validation_accuracy=0.99)}
    verdicts = pd.DataFrame(claims(poor, COUNTING_PROTOCOL)).set_index("claim").verdict
    assert verdicts[verdicts.index.str.contains("learns to count")].eq("not reproduced").all()


def test_the_paper_overlay_is_the_published_protocol():
    overlay = yaml.safe_load((ROOT / "workflow/config/paper.yaml").read_text(encoding="utf-8"))
    assert departures(overlay["counting"]) == {}


def test_a_run_without_a_wrong_count_is_drawn():
    assert wrong_counts(pd.Series([1.0, 0.9]), 100).tolist() == pytest.approx([0.005, 0.1])


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
