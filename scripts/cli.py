"""What the command-line programs share: options that describe tasks, and errors told in one line."""

from __future__ import annotations

import itertools
import sys

import click
import yaml

from solvable_attention.errors import ArgumentError
from solvable_attention.task import ACTIVATIONS, TeacherStudent


def run(command: click.Command) -> None:
    """Run a command; bad input ends in one line on standard error and a status that is not 0."""
    try:
        command.main(standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit("interrupted")
    except (click.ClickException, ArgumentError, OSError, MemoryError) as error:
        message = error.format_message() if isinstance(error, click.ClickException) else str(error) or repr(error)
        print(f"error: {' '.join(message.split())}", file=sys.stderr)
        sys.exit(2)


class Matrix(click.ParamType):
    """A matrix written as a list of rows, such as [[0.6,0.4],[0.4,0.6]]."""

    name = "matrix"

    def convert(self, value, param, ctx):
        try:
            matrix = yaml.safe_load(value)
        except yaml.YAMLError:
            matrix = None
        if not isinstance(matrix, list):
            self.fail(f"is {value!r}, allowed is a list of rows such as [[0.6,0.4],[0.4,0.6]]", param, ctx)
        return matrix


def figure_files(command):
    """Options that name the files of a figure."""
    for name in ("caption", "png", "pdf"):
        command = click.option(f"--{name}", type=click.Path(), required=True)(command)
    return command


def figure_options(command):
    """The files of a figure, and what its tables do not hold: the positional matrix, for the caption."""
    matrix = click.option("--A", "A", type=Matrix(), required=True, help="Positional matrix of what is drawn.")
    return figure_files(matrix(command))


def task_options(command):
    """Options of the tasks: every combination of the given ω, σ and λ, with one choice of everything else."""
    options = [
        click.option("--experiment", required=True, help="Name that goes into the table."),
        click.option("--omega", type=float, multiple=True, required=True, help="Share ω of A in the teacher."),
        click.option("--sigma", type=float, multiple=True, required=True, help="Standard deviation σ of an entry."),
        click.option("--lam", type=float, multiple=True, required=True, help="Ridge λ."),
        click.option("--L", "L", type=int, default=2, show_default=True, help="Tokens."),
        click.option("--rank", type=int, default=1, show_default=True, help="Columns r of the student."),
        click.option("--teacher-rank", type=int, default=1, show_default=True, help="Columns r⋆ of the teacher."),
        click.option("--value-rank", type=int, default=0, show_default=True, help="Columns s of trained values."),
        click.option("--tied", type=bool, default=True, show_default=True, help="Queries equal to keys."),
        click.option("--activation", type=click.Choice(ACTIVATIONS), default="softmax", help="Of the scores."),
        click.option("--spectrum", type=Matrix(), help="Pairs of eigenvalue and share of Σ.  [default: Σ = I]"),
        click.option("--A", "A", type=Matrix(), help="Positional attention of the teacher.  [default: standard]"),
        click.option("--covariance", type=Matrix(), help="Covariance C of the tokens.  [default: σ² times identity]"),
        click.option("--encodings-gram", type=Matrix(), help="Gram matrix P of the encodings."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def tasks_from(options: dict) -> tuple[str, list[TeacherStudent]]:
    """Take the task options out of `options`; return the experiment's name and its tasks."""
    experiment = options.pop("experiment")
    grid = itertools.product(*(options.pop(key) for key in ("omega", "sigma", "lam")))
    names = (
        "L",
        "rank",
        "teacher_rank",
        "value_rank",
        "tied",
        "activation",
        "spectrum",
        "A",
        "covariance",
        "encodings_gram",
    )
    rest = {key: options.pop(key) for key in names}
    return experiment, [TeacherStudent(omega, sigma, lam, **rest) for omega, sigma, lam in grid]
