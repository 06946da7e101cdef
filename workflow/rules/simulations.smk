"""Training at finite d: one job takes one (σ, d, α) and some data sets; all ω, λ and starts share each data matrix."""

SIMULATION_SCRIPT = "scripts/gd_simulations.py"
SIMULATION_PART = (
    RESULTS + "/simulations/parts/{experiment}/sigma~{sigma}_d~{d}/alpha~{alpha}_seeds~{chunk}.parquet"
)
RANDOM_STARTS = ("random", "noisy_positional")
OPTIMIZER_OPTIONS = ("max_iterations", "step", "grad_tol", "noisy_mean", "noisy_std")


def simulation_parts(names=tuple(EXPERIMENTS)) -> list[str]:
    return [
        SIMULATION_PART.format(experiment=name, sigma=number(sigma), d=d, alpha=number(alpha), chunk=chunk)
        for name, part in with_part("simulations").items()
        if name in names
        for sigma in values(EXPERIMENTS[name], "sigma")
        for d in part["d"]
        for alpha in grid(part["alphas"])
        for chunk in range(len(seed_blocks(part)))
    ]


def simulation_rows() -> int:
    total = 0
    for name, part in with_part("simulations").items():
        runs = sum(part.get("restarts", 1) if start in RANDOM_STARTS else 1 for start in part["starts"])
        points = len(part["d"]) * len(grid(part["alphas"])) * part["seeds"]
        total += len(task_grid(EXPERIMENTS[name])) * points * runs
    return total


def simulation_arguments(wildcards) -> str:
    """Options of one job; only what its experiment says, so that another's change does not re-run it."""
    part = EXPERIMENTS[wildcards.experiment]["simulations"]
    return " ".join(
        [
            data_task_arguments(wildcards),
            arguments(d=int(wildcards.d), alpha=float(wildcards.alpha)),
            arguments(seed=seed_blocks(part)[int(wildcards.chunk)], root_seed=config["seed"]),
            arguments(start=part["starts"], restarts=part.get("restarts", 1), optimizer=part["optimizer"]),
            arguments(**{key: part.get(key) for key in OPTIMIZER_OPTIONS}),
        ]
    )


rule simulate:
    input:
        script=SIMULATION_SCRIPT,
        code=code_files(SIMULATION_SCRIPT),
    output:
        SIMULATION_PART,
    params:
        options=simulation_arguments,
        device=config["device"],
    log:
        "logs/" + SIMULATION_PART.removesuffix(".parquet") + ".log",
    benchmark:
        "logs/" + SIMULATION_PART.removesuffix(".parquet") + ".benchmark.tsv"
    threads: 1
    resources:
        mem_mb=lambda w: simulation_memory_mb(int(w.d), float(w.alpha), EXPERIMENTS[w.experiment].get("L", 2)),
        runtime=120,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} {params.options} --device {params.device} --output {output} > {log} 2>&1"
