"""Optimisers of the empirical risk; each moves many runs at once and returns a `Minimisation`."""

from solvable_attention.simulation.optimizers.first_order import adam, gradient_descent
from solvable_attention.simulation.optimizers.lbfgs import lbfgs
from solvable_attention.simulation.optimizers.result import Minimisation

OPTIMIZERS = {"lbfgs": lbfgs, "gd": gradient_descent, "adam": adam}

__all__ = ["OPTIMIZERS", "Minimisation", "adam", "gradient_descent", "lbfgs"]
