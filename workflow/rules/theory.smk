"""State evolution: fixed points along α, transitions, and scans for further fixed points. A job takes a few ω."""

THEORY_SCRIPT = "scripts/theory_fixed_points.py"
TRANSITIONS_SCRIPT = "scripts/transitions.py"
SCAN_SCRIPT = "scripts/scan_fixed_points.py"
TASKS_PART = RESULTS + "/theory/parts/{experiment}/sigma~{sigma}_lam~{lam}_omegas~{omegas}"
THEORY_PART = TASKS_PART + "_{branch}.parquet"
TRANSITIONS_PART = TASKS_PART + "_transitions.parquet"
SCAN_PART = TASKS_PART + "_scan.parquet"


def task_blocks(kind: str) -> list[tuple[str, dict]]:
    """Names and wildcards of the jobs that an experiment with this part needs for one branch or kind."""
    return [
        (name, {"experiment": name, "sigma": number(sigma), "lam": number(lam), "omegas": block})
        for name in with_part(kind)
        for sigma in values(EXPERIMENTS[name], "sigma")
        for lam in values(EXPERIMENTS[name], "lam")
        for block in omega_blocks(name)
    ]


def theory_parts(names=tuple(EXPERIMENTS)) -> list[str]:
    branches = {name: part["branches"] for name, part in with_part("theory").items() if name in names}
    blocks_of = [(name, wildcards) for name, wildcards in task_blocks("theory") if name in branches]
    return [THEORY_PART.format(branch=b, **wildcards) for name, wildcards in blocks_of for b in branches[name]]


def theory_rows() -> int:
    return sum(
        len(task_grid(EXPERIMENTS[name])) * len(part["branches"]) * len(grid(part["alphas"]))
        for name, part in with_part("theory").items()
    )


def transition_parts() -> list[str]:
    return [TRANSITIONS_PART.format(**wildcards) for _, wildcards in task_blocks("transitions")]


def transition_rows() -> int:
    return sum(
        len(task_grid(EXPERIMENTS[name])) * len(part["kinds"]) for name, part in with_part("transitions").items()
    )


def transition_arguments(wildcards) -> str:
    part = EXPERIMENTS[wildcards.experiment]["transitions"]
    return arguments(kind=part["kinds"], low=float(part["low"]), high=float(part["high"]))


def scan_parts() -> list[str]:
    return [SCAN_PART.format(**wildcards) for _, wildcards in task_blocks("scan")]


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
        alphas=lambda w: arguments(alpha=grid(EXPERIMENTS[w.experiment]["theory"]["alphas"])),
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
