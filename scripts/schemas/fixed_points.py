"""Fixed points of the state evolution along the branches."""

from tables import Table, number, one_of, pa, task_columns

# Eigenvalues that a row holds, by falling modulus.
MOST_EIGENVALUES = 4


def fixed_point_columns() -> dict:
    """Columns of a fixed point; what did not converge may be missing, and `converged` says so."""
    tasks = task_columns()
    eigenvalues = [f"eigenvalue_{i}_{part}" for part in ("real", "imag") for i in range(1, MOST_EIGENVALUES + 1)]
    return {
        "experiment": tasks.pop("experiment"),
        "alpha": number(0),
        **tasks,
        "branch": one_of(["semantic", "positional", "uninformative", "mixed"]),
        **{name: number(nullable=True) for name in ("q", "m", "V", "theta", "value_overlap")},
        **{name: number(nullable=True) for name in ("train_loss", "test_error")},
        # E‖S(w) p‖², see `finite_d`: the encodings in the values add α/(2d) of it to ε_t of runs, 1/(Ld) to ε_g.
        "encoding_term": number(0, nullable=True),
        **{name: number(0, nullable=True) for name in ("residual", "quadrature_error")},
        "converged": pa.Column(bool),
        "merged": pa.Column(bool),
        "two_well_weight": number(0, 1, nullable=True),
        **{name: number(0, nullable=True) for name in ("train_loss_error", "test_error_error")},
        **{name: number(nullable=True) for name in ("growth_m", "growth_theta", *eigenvalues)},
    }


FIXED_POINTS = Table("fixed_points", fixed_point_columns(), ["experiment", "omega", "sigma", "lam", "branch", "alpha"])
