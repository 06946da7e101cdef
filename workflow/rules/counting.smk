"""The counting experiment: both stages of training, what is measured on the weights, and its figures and table."""

COUNTING = config["counting"]
TRAIN_SCRIPT, MEASURE_SCRIPT = "scripts/counting_train.py", "scripts/counting_measure.py"
TRAINING_PART = RESULTS + "/counting/parts/{mechanism}_stage{stage}"
CHECKPOINT = RESULTS + "/counting/checkpoints/{mechanism}_stage{stage}.pt"
STAGES = {"positional": (1, 2), "semantic": (1, 2), "both": (1,)}
TRAININGS = [(mechanism, stage) for mechanism, stages in STAGES.items() for stage in stages]
COUNTING_TABLES = {name: f"{RESULTS}/counting/{name}.parquet" for name in ("accuracies", "distances", "attention")}
CURVES_TABLE = f"{RESULTS}/counting/curves.parquet"


def weights_of(mechanism: str, stage: int) -> str:
    return TRAINING_PART.format(mechanism=mechanism, stage=stage) + ".npz"


def counting_arguments() -> str:
    """Options of what is counted, and of the model."""
    names = ("letters", "length", "sequences", "train_share", "width", "hidden")
    return arguments(**{name: COUNTING[name] for name in names}, root_seed=config["seed"])


def stage_arguments(stage: str) -> str:
    """Options of one stage of training."""
    part = COUNTING["first" if stage == "1" else "second"]
    return arguments(runs=COUNTING["runs"], batch=COUNTING["batch"], **{**part, "step": float(part["step"])})


def start_of(wildcards) -> list[str]:
    """Weights that a stage starts from: a second one from the restricted solution."""
    return [weights_of(wildcards.mechanism, 1)] if wildcards.stage == "2" else []


rule train_counting:
    input:
        script=TRAIN_SCRIPT,
        code=code_files(TRAIN_SCRIPT),
        start=start_of,
    output:
        weights=TRAINING_PART + ".npz",
        curves=TRAINING_PART + "_curves.parquet",
    params:
        model=counting_arguments(),
        training=lambda w: stage_arguments(w.stage),
        start=lambda w, input: arguments(start=input.start),
        checkpoint=lambda w: CHECKPOINT.format(**w),
    wildcard_constraints:
        mechanism="positional|semantic|both",
        stage="1|2",
    log:
        "logs/" + TRAINING_PART + ".log",
    benchmark:
        "logs/" + TRAINING_PART + ".benchmark.tsv"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=240,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} {params.model} --mechanism {wildcards.mechanism} {params.training} {params.start}"
        " --checkpoint {params.checkpoint} --weights {output.weights} --curves {output.curves} > {log} 2>&1"


rule counting_curves_table:
    localrule: True
    input:
        script=GATHER_SCRIPT,
        code=code_files(GATHER_SCRIPT),
        parts=expand(TRAINING_PART + "_curves.parquet", zip, **dict(zip(("mechanism", "stage"), zip(*TRAININGS)))),
    output:
        CURVES_TABLE,
    params:
        rows=COUNTING["runs"] * sum(COUNTING["first" if stage == 1 else "second"]["epochs"] for _, stage in TRAININGS),
    log:
        f"logs/{RESULTS}/counting/curves.log",
    benchmark:
        f"logs/{RESULTS}/counting/curves.benchmark.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} --table counting_curves --rows {params.rows} --output {output} {input.parts} > {log} 2>&1"


rule measure_counting:
    input:
        script=MEASURE_SCRIPT,
        code=code_files(MEASURE_SCRIPT),
        weights=[weights_of(*training) for training in TRAININGS],
    output:
        RESULTS + "/counting/{table}.parquet",
    params:
        model=counting_arguments(),
        weights=" ".join(f"--weights {m} {s} {weights_of(m, s)}" for m, s in TRAININGS),
        examples=lambda w: arguments(
            example=[str(x).replace(" ", "") for x in COUNTING["examples"]] if w.table == "attention" else []
        ),
    wildcard_constraints:
        table="|".join(COUNTING_TABLES),
    log:
        "logs/" + RESULTS + "/counting/{table}.log",
    benchmark:
        "logs/" + RESULTS + "/counting/{table}.benchmark.tsv"
    threads: 1
    resources:
        mem_mb=1500,
        runtime=20,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} {params.model} --table {wildcards.table} {params.weights} {params.examples}"
        " --output {output} > {log} 2>&1"


# Figure: the tables that it reads.
COUNTING_FIGURES = {
    "counting_attention": {name: COUNTING_TABLES[name] for name in ("attention", "accuracies")},
    "counting_curves": {"curves": CURVES_TABLE},
    "counting_second_stage": {name: COUNTING_TABLES[name] for name in ("attention", "distances")},
    "counting_shares": {"accuracies": COUNTING_TABLES["accuracies"]},
}
for figure, tables in COUNTING_FIGURES.items():

    rule:
        name:
            figure
        localrule: True
        input:
            **tables,
            script=f"scripts/{figure}.py",
            code=code_files(f"scripts/{figure}.py"),
        output:
            pdf=report(f"{FIGURES}/{figure}.pdf", category="Counting", caption=f"../report/{figure}.rst"),
            png=f"{FIGURES}/{figure}.png",
            caption=f"{FIGURES}/{figure}.md",
        params:
            tables=arguments(**tables),
        log:
            f"logs/{FIGURES}/{figure}.log",
        benchmark:
            f"logs/{FIGURES}/{figure}.benchmark.tsv"
        threads: 1
        resources:
            mem_mb=1000,
            runtime=10,
        conda:
            ENVIRONMENT
        shell:
            "python {input.script} {params.tables}"
            " --pdf {output.pdf} --png {output.png} --caption {output.caption} > {log} 2>&1"


rule counting_table:
    localrule: True
    input:
        curves=CURVES_TABLE,
        accuracies=COUNTING_TABLES["accuracies"],
        distances=COUNTING_TABLES["distances"],
        script="scripts/counting_table.py",
        code=code_files("scripts/counting_table.py"),
    output:
        claims=f"{RESULTS}/counting/scorecard.parquet",
        page=f"{FIGURES}/counting.md",
        latex=f"{FIGURES}/counting.tex",
    params:
        tables=arguments(curves=CURVES_TABLE, **pick(COUNTING_TABLES, "accuracies", "distances")),
    log:
        f"logs/{RESULTS}/counting/scorecard.log",
    benchmark:
        f"logs/{RESULTS}/counting/scorecard.benchmark.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} {params.tables}"
        " --output {output.claims} --page {output.page} --latex {output.latex} > {log} 2>&1"


rule counting:
    input:
        CURVES_TABLE,
        list(COUNTING_TABLES.values()),
        expand(f"{FIGURES}/{{name}}.{{suffix}}", name=COUNTING_FIGURES, suffix=["pdf", "png", "md"]),
        rules.counting_table.output,
