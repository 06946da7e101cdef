"""Numbers that H. Cui, F. Behrens, F. Krzakala and L. Zdeborová published with arXiv:2402.03902.

The transition lines stand in the plotting code of their repository (σ = .5, λ = .01, A = [[.6, .4], [.4, .6]]).
"""

from solvable_attention.task import STANDARD_A, TeacherStudent

CITATION = "Cui, Behrens, Krzakala & Zdeborová, arXiv:2402.03902"
# α by ω
LINES = {
    "alpha_c": {
        0.0: 0.548, 0.1: 0.707, 0.15: 0.818, 0.2: 0.928, 0.25: 1.060, 0.3: 1.241, 0.35: 1.454, 0.4: 1.751, 0.425: 1.939
    },
    "alpha_l": {
        0.0: 0.722, 0.05: 0.765, 0.075: 0.808, 0.1: 0.851, 0.15: 0.942, 0.2: 1.071, 0.25: 1.225, 0.275: 1.327,
        0.3: 1.451, 0.325: 1.584, 0.35: 1.750, 0.38: 1.993
    },
}  # fmt: skip
# How the authors trained their counting models, in the keys of config.yaml.
COUNTING_PROTOCOL = {
    "letters": 15, "length": 10, "sequences": 50_000, "train_share": 0.7, "width": 64, "hidden": 128, "runs": 10,
    "batch": 32, "first": {"optimizer": "adam", "step": 1e-3, "epochs": 200},
    "second": {"optimizer": "sgd", "step": 1e-3, "epochs": 100, "noise": 1e-3},
}  # fmt: skip
# Mean and standard deviation over ten runs of what the counting experiment measures.
COUNTING = {
    ("positional", "validation accuracy, stage 1"): (0.99885, 0.00045),
    ("semantic", "validation accuracy, stage 1"): (0.99894, 0.00117),
    ("positional", "distance in stage 2, summed"): (0.61, 0.13),
    ("semantic", "distance in stage 2, summed"): (0.46, 0.24),
    ("positional", "distance, start → solution, summed"): (159.0, 4.0),
    ("semantic", "distance, start → solution, summed"): (164.0, 9.0),
}


def has_published_lines(task: TeacherStudent) -> bool:
    """Whether the published lines are those of the task, whatever its ω."""
    return task.is_paper_case and (task.sigma, task.lam, task.A) == (0.5, 0.01, STANDARD_A)
