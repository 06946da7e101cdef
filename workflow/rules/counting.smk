"""The counting experiment: both stages of training, what is measured on the weights, and its figures and table."""

COUNTING = config["counting"]
TRAIN_SCRIPT, MEASURE_SCRIPT = "scripts/counting_train.py", "scripts/counting_measure.py"
TRAINING_PART = RESULTS + "/counting/parts/{mechanism}_stage{stage}"
CHECKPOINT = RESULTS + "/counting/checkpoints/{mechanism}_stage{stage}.pt"
STAGES = {"positional": (1, 2), "semantic": (1, 2), "both": (1,)}
TRAININGS = [(mechanism, stage) for mechanism, stages in STAGES.items() for stage in stages]
MEASURES = ("accuracies", "distances", "attention")
COUNTING_TABLES = {name: f"{RESULTS}/counting/{name}.parquet" for name in ("curves", *MEASURES)}


CURVES_PARTS = [TRAINING_PART.format(mechanism=m, stage=s) + "_curves.parquet" for m, s in TRAININGS]
CURVES_ROWS = COUNTING["runs"] * sum(COUNTING["first" if stage == 1 else "second"]["epochs"] for _, stage in TRAININGS)
# What figures and table say of the training.
SETTINGS = arguments(settings=json.dumps({key: value for key, value in COUNTING.items() if key != "examples"}))


def counting_memory_mb() -> int:
    """Libraries, sequences and labels, the pairs of places that are compared, and the activations of a batch."""
    L, sequences = COUNTING["length"], COUNTING["sequences"]
    batch = COUNTING["runs"] * COUNTING["batch"] * L * (8 * COUNTING["hidden"] + 6 * COUNTING["letters"] + 12 * L)
    return int(900 + 1e-6 * (sequences * L * (40 + L) + 40 * batch))


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
        "logs/" + TRAINING_PART + "_curves.log",
    benchmark:
        "logs/" + TRAINING_PART + "_curves.benchmark.tsv"
    threads: 1
    resources:
        mem_mb=counting_memory_mb(),
        runtime=240,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} {params.model} --mechanism {wildcards.mechanism} {params.training} {params.start}"
        " --checkpoint {params.checkpoint} --weights {output.weights} --curves {output.curves} > {log} 2>&1"


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
        table="|".join(MEASURES),
    log:
        "logs/" + RESULTS + "/counting/{table}.log",
    benchmark:
        "logs/" + RESULTS + "/counting/{table}.benchmark.tsv"
    threads: 1
    resources:
        mem_mb=counting_memory_mb(),
        runtime=20,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} {params.model} --table {wildcards.table} {params.weights} {params.examples}"
        " --output {output} > {log} 2>&1"


# As FIGURES_DRAWN, for the figures that only the target `counting` draws.
COUNTING_DRAWN = {
    "counting_attention": ("attention accuracies", SETTINGS),
    "counting_curves": ("curves", SETTINGS),
    "counting_second_stage": ("attention distances", SETTINGS),
    "counting_shares": ("accuracies", SETTINGS),
}


rule counting_table:
    localrule: True
    input:
        **pick(COUNTING_TABLES, "curves", "accuracies", "distances"),
        script="scripts/counting_table.py",
        code=code_files("scripts/counting_table.py"),
    output:
        claims=f"{RESULTS}/counting/scorecard.parquet",
        page=f"{FIGURES}/counting.md",
        latex=f"{FIGURES}/counting.tex",
    params:
        tables=arguments(**pick(COUNTING_TABLES, "curves", "accuracies", "distances")),
        settings=SETTINGS,
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
        "python {input.script} {params.tables} {params.settings}"
        " --output {output.claims} --page {output.page} --latex {output.latex} > {log} 2>&1"


rule counting:
    input:
        list(COUNTING_TABLES.values()),
        expand(f"{FIGURES}/{{name}}.{{suffix}}", name=COUNTING_DRAWN, suffix=["pdf", "png", "md"]),
        rules.counting_table.output,
