"""State evolution: fixed points along α, transitions, and scans for further fixed points. A job takes a few ω."""

THEORY_SCRIPT = "scripts/theory_fixed_points.py"
TRANSITIONS_SCRIPT = "scripts/transitions.py"
SCAN_SCRIPT = "scripts/scan_fixed_points.py"
TASKS_PART = RESULTS + "/theory/parts/{experiment}/sigma~{sigma}_lam~{lam}_omegas~{omegas}"
THEORY_PART = TASKS_PART + "_{branch}.parquet"
TRANSITIONS_PART = TASKS_PART + "_transitions.parquet"
SCAN_PART = TASKS_PART + "_scan.parquet"


def task_blocks(kind: str, among: dict) -> list[tuple[str, dict]]:
    """Names and wildcards of the jobs that an experiment with this part needs for one branch or kind."""
    return [
        (name, {"experiment": name, "sigma": number(sigma), "lam": number(lam), "omegas": block})
        for name in with_part(kind, among)
        for sigma in values(among[name], "sigma")
        for lam in values(among[name], "lam")
        for block in omega_blocks(name)
    ]


def theory_parts(among: dict = EXPERIMENTS) -> list[str]:
    return [
        THEORY_PART.format(branch=branch, **wildcards)
        for name, wildcards in task_blocks("theory", among)
        for branch in among[name]["theory"]["branches"]
    ]


def theory_rows(among: dict = EXPERIMENTS) -> int:
    return sum(
        len(task_grid(among[name])) * len(part["branches"]) * len(grid(part["alphas"]))
        for name, part in with_part("theory", among).items()
    )


def transition_parts(among: dict = EXPERIMENTS) -> list[str]:
    return [TRANSITIONS_PART.format(**wildcards) for _, wildcards in task_blocks("transitions", among)]


def transition_rows(among: dict = EXPERIMENTS) -> int:
    parts = with_part("transitions", among)
    return sum(len(task_grid(among[name])) * len(part["kinds"]) for name, part in parts.items())


def transition_arguments(wildcards) -> str:
    part = STUDIES[wildcards.experiment]["transitions"]
    return arguments(kind=part["kinds"], low=float(part["low"]), high=float(part["high"]))


def scan_parts() -> list[str]:
    return [SCAN_PART.format(**wildcards) for _, wildcards in task_blocks("scan", EXPERIMENTS)]


def scan_arguments(wildcards) -> str:
    part = EXPERIMENTS[wildcards.experiment]["scan"]
    return arguments(alpha=grid(part["alphas"]), random_starts=part["random_starts"], root_seed=config["seed"])


rule theory_branch:
    input:
        script=THEORY_SCRIPT,
        code=code_files(THEORY_SCRIPT),
    output:
        THEORY_PART,
    params:
        task=theory_task_arguments,
        alphas=lambda w: arguments(alpha=grid(STUDIES[w.experiment]["theory"]["alphas"])),
    log:
        "logs/" + THEORY_PART.removesuffix(".parquet") + ".log",
    benchmark:
        "logs/" + THEORY_PART.removesuffix(".parquet") + ".benchmark.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=60,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} {params.task} --branch {wildcards.branch} {params.alphas} --output {output} > {log} 2>&1"


rule transitions:
    input:
        script=TRANSITIONS_SCRIPT,
        code=code_files(TRANSITIONS_SCRIPT),
    output:
        TRANSITIONS_PART,
    params:
        task=theory_task_arguments,
        search=transition_arguments,
    log:
        "logs/" + TRANSITIONS_PART.removesuffix(".parquet") + ".log",
    benchmark:
        "logs/" + TRANSITIONS_PART.removesuffix(".parquet") + ".benchmark.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=60,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} {params.task} {params.search} --output {output} > {log} 2>&1"


rule scan:
    input:
        script=SCAN_SCRIPT,
        code=code_files(SCAN_SCRIPT),
    output:
        SCAN_PART,
    params:
        task=theory_task_arguments,
        search=scan_arguments,
    log:
        "logs/" + SCAN_PART.removesuffix(".parquet") + ".log",
    benchmark:
        "logs/" + SCAN_PART.removesuffix(".parquet") + ".benchmark.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=60,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} {params.task} {params.search} --output {output} > {log} 2>&1"
