"""The empirical risk on the plane through both minima of single data sets."""

LANDSCAPE_SCRIPT = "scripts/risk_landscape.py"
LANDSCAPE_PART = RESULTS + "/simulations/parts/{experiment}/sigma~{sigma}_landscape.parquet"


def landscape_parts() -> list[str]:
    return [
        LANDSCAPE_PART.format(experiment=name, sigma=number(sigma))
        for name in with_part("landscape")
        for sigma in values(EXPERIMENTS[name], "sigma")
    ]


def landscape_arguments(wildcards) -> str:
    part = EXPERIMENTS[wildcards.experiment]["landscape"]
    names = ("d", "seed", "restarts", "points")
    options = arguments(**{name: part[name] for name in names}, alpha=grid(part["alphas"]), root_seed=config["seed"])
    return f"{data_task_arguments(wildcards)} {options}"


def landscape_memory(wildcards) -> int:
    part, experiment = EXPERIMENTS[wildcards.experiment]["landscape"], EXPERIMENTS[wildcards.experiment]
    return 200 + simulation_memory_mb(part["d"], grid(part["alphas"])[-1], experiment.get("L", 2))


rule risk_landscape:
    input:
        script=LANDSCAPE_SCRIPT,
        code=code_files(LANDSCAPE_SCRIPT),
    output:
        LANDSCAPE_PART,
    params:
        options=landscape_arguments,
    log:
        "logs/" + LANDSCAPE_PART.removesuffix(".parquet") + ".log",
    benchmark:
        "logs/" + LANDSCAPE_PART.removesuffix(".parquet") + ".benchmark.tsv"
    threads: 1
    resources:
        mem_mb=landscape_memory,
        runtime=60,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} {params.options} --output {output} > {log} 2>&1"
