"""The pins: one list in two forms, installed as written, and free of packages that need a licence."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
# quadpy and its relatives became proprietary and no longer import without a licence (sigma-py/quadpy issues 463, 471).
PROPRIETARY = {"quadpy", "orthopy", "ndim", "pacopy", "stonefish-runtime"}


def pins():
    lines = (ROOT / "envs/requirements.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def names():
    return {re.split("==", pin)[0].lower().replace("_", "-") for pin in pins()}


def test_every_requirement_is_an_exact_pin():
    assert pins() and all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", pin) for pin in pins())


def test_conda_environment_holds_the_same_pins():
    environment = yaml.safe_load((ROOT / "envs/environment.yaml").read_text(encoding="utf-8"))
    (pip,) = [item["pip"] for item in environment["dependencies"] if isinstance(item, dict)]
    assert pip == pins() and "python=3.11" in environment["dependencies"]


def test_installed_versions_are_the_pinned_ones():
    for pin in pins():
        name, pinned = pin.split("==")
        assert version(name).split("+")[0] == pinned, name


def test_project_dependencies_are_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {re.split("[<>=]", d)[0] for d in project["dependencies"]} <= names()


def test_no_proprietary_package():
    assert not names() & PROPRIETARY
