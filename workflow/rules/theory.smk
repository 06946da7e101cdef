"""Fixed points of the state evolution: one job follows one branch of one task along α."""

THEORY_SCRIPT = "scripts/theory_fixed_points.py"
TRANSITIONS_SCRIPT = "scripts/transitions.py"
TASK_PART = RESULTS + "/theory/parts/{experiment}/omega~{omega}_sigma~{sigma}_lam~{lam}"
THEORY_PART = TASK_PART + "_{branch}.parquet"


def theory_tasks() -> list[tuple[str, dict]]:
    """Names and wildcards of every task that has a theory part."""
    return [
        (name, {"experiment": name, "omega": number(w), "sigma": number(s), "lam": number(x)})
        for name in with_part("theory")
        for w, s, x in task_grid(EXPERIMENTS[name])
    ]


def theory_parts() -> list[str]:
    branches = {name: part["branches"] for name, part in with_part("theory").items()}
    return [THEORY_PART.format(branch=b, **wildcards) for name, wildcards in theory_tasks() for b in branches[name]]


def transition_parts() -> list[str]:
    """One part a task whose experiment asks for both branches that a transition compares."""
    both = {name for name, part in with_part("theory").items() if {"semantic", "positional"} <= set(part["branches"])}
    return [TASK_PART.format(**wildcards) + "_transitions.parquet" for name, wildcards in theory_tasks() if name in both]


def theory_rows() -> int:
    parts = with_part("theory")
    sizes = {name: len(part["branches"]) * len(alpha_grid(part["alphas"])) for name, part in parts.items()}
    return sum(sizes[name] for name, _ in theory_tasks())


rule theory:
    input:
        f"{RESULTS}/theory/fixed_points.parquet",
        f"{RESULTS}/theory/transitions.parquet",


rule theory_branch:
    input:
        script=THEORY_SCRIPT,
        code=code_files(THEORY_SCRIPT),
    output:
        THEORY_PART,
    params:
        task=lambda w: task_arguments(w.experiment, [float(w.omega)], float(w.sigma), [float(w.lam)]),
        alphas=lambda w: arguments(alpha=alpha_grid(EXPERIMENTS[w.experiment]["theory"]["alphas"])),
    log:
        "logs/" + THEORY_PART.removesuffix(".parquet") + ".log",
    benchmark:
        "logs/" + THEORY_PART.removesuffix(".parquet") + ".benchmark.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} {params.task} --branch {wildcards.branch} {params.alphas} --output {output} > {log} 2>&1"



rule transitions:
    input:
        script=TRANSITIONS_SCRIPT,
        code=code_files(TRANSITIONS_SCRIPT),
        semantic=TASK_PART + "_semantic.parquet",
        positional=TASK_PART + "_positional.parquet",
    output:
        TASK_PART + "_transitions.parquet",
    params:
        task=lambda w: task_arguments(w.experiment, [float(w.omega)], float(w.sigma), [float(w.lam)]),
    log:
        "logs/" + TASK_PART + "_transitions.log",
    benchmark:
        "logs/" + TASK_PART + "_transitions.benchmark.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} {params.task} --semantic {input.semantic} --positional {input.positional}"
        " --output {output} > {log} 2>&1"
