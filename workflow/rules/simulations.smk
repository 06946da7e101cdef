"""Training at finite d: one job takes one σ, some d, α and data sets; all ω, λ and starts share each data matrix."""

SIMULATION_SCRIPT = "scripts/gd_simulations.py"
SIMULATION_PART = (
    RESULTS + "/simulations/parts/{experiment}/sigma~{sigma}_d~{sizes}/alphas~{alphas}_seeds~{chunk}.parquet"
)
FURTHER_OPTIONS = ("random_std", "max_iterations", "step", "grad_tol", "noisy_mean", "noisy_std")


def simulation_parts(among: dict = EXPERIMENTS) -> list[str]:
    return [
        SIMULATION_PART.format(experiment=name, sigma=number(sigma), sizes=sizes, alphas=alphas, chunk=chunk)
        for name, part in with_part("simulations", among).items()
        for sigma in values(among[name], "sigma")
        for sizes in size_blocks(part)
        for alphas in alpha_blocks(part)
        for chunk in range(len(seed_blocks(part)))
    ]


def simulation_rows(among: dict = EXPERIMENTS) -> int:
    total = 0
    for name, part in with_part("simulations", among).items():
        deviations = {"random": len(part.get("random_std", [0])), "noisy_positional": 1}
        runs = sum(deviations[s] * part.get("restarts", 1) if s in deviations else 1 for s in part["starts"])
        points = len(part["d"]) * len(grid(part["alphas"])) * part["seeds"]
        total += len(task_grid(among[name])) * points * runs
    return total


def simulation_arguments(wildcards) -> str:
    """Options of one job; only what its experiment says, so that another's change does not re-run it."""
    part = STUDIES[wildcards.experiment]["simulations"]
    return " ".join(
        [
            data_task_arguments(wildcards),
            arguments(d=size_blocks(part)[wildcards.sizes], alpha=alpha_blocks(part)[wildcards.alphas]),
            arguments(seed=seed_blocks(part)[int(wildcards.chunk)], root_seed=config["seed"]),
            arguments(start=part["starts"], restarts=part.get("restarts", 1), optimizer=part["optimizer"]),
            arguments(**{key: part.get(key) for key in FURTHER_OPTIONS}),
        ]
    )


def simulation_job_memory(wildcards) -> int:
    experiment = STUDIES[wildcards.experiment]
    alphas = alpha_blocks(experiment["simulations"])[wildcards.alphas]
    sizes = size_blocks(experiment["simulations"])[wildcards.sizes]
    return simulation_memory_mb(max(sizes), alphas[-1], experiment.get("L", 2))


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
        mem_mb=simulation_job_memory,
        runtime=120,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} {params.options} --device {params.device} --output {output} > {log} 2>&1"
