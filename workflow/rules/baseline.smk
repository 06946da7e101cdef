"""The linear positional baseline: its closed form, and its fit at finite d on the data of the simulations."""

BASELINE_SCRIPT = "scripts/linear_baseline.py"
BASELINE_PART = RESULTS + "/baseline/parts/{experiment}/sigma~{sigma}_seeds~{chunk}.parquet"


def baseline_parts() -> list[str]:
    return [
        BASELINE_PART.format(experiment=name, sigma=number(sigma), chunk=chunk)
        for name, part in with_part("baseline").items()
        for sigma in values(EXPERIMENTS[name], "sigma")
        for chunk in range(len(seed_blocks(part)))
    ]


def baseline_rows() -> int:
    return sum(
        len(task_grid(EXPERIMENTS[name])) * len(part["d"]) * len(grid(part["alphas"])) * part["seeds"]
        for name, part in with_part("baseline").items()
    )


def baseline_arguments(wildcards) -> str:
    part = EXPERIMENTS[wildcards.experiment]["baseline"]
    return " ".join(
        [
            data_task_arguments(wildcards),
            arguments(d=part["d"], alpha=grid(part["alphas"]), ridge=float(part["ridge"])),
            arguments(seed=seed_blocks(part)[int(wildcards.chunk)], root_seed=config["seed"]),
        ]
    )


rule fit_baseline:
    input:
        script=BASELINE_SCRIPT,
        code=code_files(BASELINE_SCRIPT),
    output:
        BASELINE_PART,
    params:
        options=baseline_arguments,
    log:
        "logs/" + BASELINE_PART.removesuffix(".parquet") + ".log",
    benchmark:
        "logs/" + BASELINE_PART.removesuffix(".parquet") + ".benchmark.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} {params.options} --output {output} > {log} 2>&1"
