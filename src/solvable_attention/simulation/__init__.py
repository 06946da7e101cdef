"""Finite-dimensional experiments: data, empirical risk, optimisers and exact test errors."""

from solvable_attention.simulation.baseline_fit import fit_linear_baseline
from solvable_attention.simulation.population import population_test_error, sampled_test_error
from solvable_attention.simulation.runs import Trained, minimise, simulate

__all__ = ["Trained", "fit_linear_baseline", "minimise", "population_test_error", "sampled_test_error", "simulate"]
