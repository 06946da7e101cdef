"""The linear positional baseline: its closed form, and its fit at finite d on the data of the simulations."""

BASELINE_SCRIPT = "scripts/linear_baseline.py"
BASELINE_PART = RESULTS + "/baseline/parts/{experiment}/sigma~{sigma}_seeds~{chunk}.parquet"


def baseline_parts() -> list[str]:
    return [
        BASELINE_PART.format(experiment=name, sigma=number(sigma), chunk=chunk)
        for name, part in with_part("baseline").items()
        for sigma in sigmas(name)
        for chunk in range(len(chunks(part)))
    ]


def baseline_rows() -> int:
    return sum(
        len(task_grid(EXPERIMENTS[name])) * len(part["d"]) * len(alpha_grid(part["alphas"])) * part["seeds"]
        for name, part in with_part("baseline").items()
    )


def baseline_arguments(wildcards) -> str:
    experiment = EXPERIMENTS[wildcards.experiment]
    part = experiment["baseline"]
    omegas, lams = ([float(x) for x in experiment[key]] for key in ("omega", "lam"))
    return " ".join(
        [
            task_arguments(wildcards.experiment, omegas, float(wildcards.sigma), lams),
            arguments(d=part["d"], alpha=alpha_grid(part["alphas"]), ridge=float(part["ridge"])),
            arguments(seed=chunks(part)[int(wildcards.chunk)], root_seed=config["seed"]),
        ]
    )


rule baseline:
    input:
        f"{RESULTS}/baseline/linear.parquet",


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
