"""Figures and pages, drawn from the gathered tables alone; each is a target of its own."""

TABLE_FILES = {
    "fixed_points": f"{RESULTS}/theory/fixed_points.parquet",
    "transitions": f"{RESULTS}/theory/transitions.parquet",
    "scan": f"{RESULTS}/theory/scan.parquet",
    "runs": f"{RESULTS}/simulations/runs.parquet",
    "landscape": f"{RESULTS}/simulations/landscape.parquet",
    "crossings": f"{RESULTS}/simulations/crossings.parquet",
    "linear": f"{RESULTS}/baseline/linear.parquet",
    **COUNTING_TABLES,
}


def figure2_task() -> str:
    """Options of the one task that figure 2 shows."""
    name = config["figure2"]["slice"]
    omegas, (sigma, *_), lams = (values(EXPERIMENTS[name], key) for key in ("omega", "sigma", "lam"))
    return task_arguments(name, omegas[:1], sigma, lams[:1])


def matrix_of(experiment: str) -> str:
    """The option --A of an experiment, the standard matrix where it names none."""
    matrix = EXPERIMENTS[experiment].get("A", TeacherStudent(0).A)
    return arguments(A=str([list(row) for row in matrix]).replace(" ", ""))


def drawn(names: dict) -> str:
    """Options that name the experiments of a figure, all of one positional matrix, and that matrix."""
    return f"{arguments(**names)} {matrix_of(next(iter(names.values())))}"


def read_files(tables: str) -> dict[str, str]:
    return {name: TABLE_FILES[name] for name in tables.split()}


# Figure: the tables that it reads and its other options. Script, report caption and target carry its name.
FIGURES_DRAWN = {
    "figure2": ("fixed_points transitions runs linear", drawn(config["figure2"])),
    "figure3": (
        "fixed_points transitions runs linear",
        drawn(pick(config["figure3"], "diagram", "scaling", "lines")),
    ),
    "figure3_maps": ("fixed_points transitions runs linear", drawn(pick(config["figure3"], "diagram", "lines"))),
    "transition_lines": (
        "transitions crossings",
        f"{diagram_task_arguments(None)} {arguments(**pick(config['figure3'], 'lines', 'ends'))}",
    ),
    "sweeps": ("fixed_points runs linear", drawn(config["appendix"]["sweeps"])),
    "sizes": ("fixed_points runs", drawn(config["appendix"]["sizes"])),
    "basins": ("fixed_points runs", drawn(config["appendix"]["basins"])),
    "positional_minima": ("fixed_points runs", drawn(config["appendix"]["positional_minima"])),
    "second_A": ("fixed_points transitions runs linear", drawn(config["appendix"]["second_A"])),
    "rank2": ("transitions runs linear", drawn(config["appendix"]["rank2"])),
    "landscape": (
        "landscape",
        f"{arguments(experiment=config['appendix']['landscape']['landscape'])}"
        f" {matrix_of(config['appendix']['landscape']['landscape'])}",
    ),
}
FIGURE_FILES = expand(f"{FIGURES}/{{name}}.{{suffix}}", name=FIGURES_DRAWN, suffix=["pdf", "png", "md"])
PAGES = [f"{FIGURES}/{name}.md" for name in ("agreement", "sweeps_agreement", "scorecard")]


rule paper_figures:
    input:
        FIGURE_FILES,
        PAGES,


for figure, (tables, options) in {**FIGURES_DRAWN, **COUNTING_DRAWN}.items():

    rule:
        name:
            figure
        localrule: True
        input:
            **read_files(tables),
            script=f"scripts/{figure}.py",
            code=code_files(f"scripts/{figure}.py"),
        output:
            pdf=report(f"{FIGURES}/{figure}.pdf", category="Figures", caption=f"../report/{figure}.rst"),
            png=f"{FIGURES}/{figure}.png",
            caption=f"{FIGURES}/{figure}.md",
        params:
            options=f"{arguments(**read_files(tables))} {options}",
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
            "python {input.script} {params.options}"
            " --pdf {output.pdf} --png {output.png} --caption {output.caption} > {log} 2>&1"


rule agreement:
    localrule: True
    input:
        **read_files("fixed_points runs"),
        script="scripts/agreement.py",
        code=code_files("scripts/agreement.py"),
    output:
        f"{FIGURES}/agreement.md",
    params:
        tables=arguments(**read_files("fixed_points runs")),
        experiments=arguments(**pick(config["figure2"], "slice", "restarts")),
        task=figure2_task(),
    log:
        f"logs/{FIGURES}/agreement.log",
    benchmark:
        f"logs/{FIGURES}/agreement.benchmark.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} {params.tables} {params.task} {params.experiments} --output {output} > {log} 2>&1"


rule sweeps_agreement:
    localrule: True
    input:
        **read_files("fixed_points runs"),
        script="scripts/sweeps_agreement.py",
        code=code_files("scripts/sweeps_agreement.py"),
    output:
        f"{FIGURES}/sweeps_agreement.md",
    params:
        options=arguments(**read_files("fixed_points runs"), **config["appendix"]["sweeps"]),
    log:
        f"logs/{FIGURES}/sweeps_agreement.log",
    benchmark:
        f"logs/{FIGURES}/sweeps_agreement.benchmark.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} {params.options} --output {output} > {log} 2>&1"


rule scorecard:
    localrule: True
    input:
        **read_files("fixed_points transitions scan runs linear crossings"),
        script="scripts/scorecard.py",
        code=code_files("scripts/scorecard.py"),
    output:
        table=f"{RESULTS}/scorecard.parquet",
        page=f"{FIGURES}/scorecard.md",
    params:
        tables=arguments(**read_files("fixed_points transitions scan runs linear crossings")),
        experiments=arguments(
            **pick(config["figure2"], "slice", "restarts"), **pick(config["figure3"], "scaling", "lines", "census")
        ),
        task=diagram_task_arguments(None),
    log:
        f"logs/{RESULTS}/scorecard.log",
    benchmark:
        f"logs/{RESULTS}/scorecard.benchmark.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} {params.tables} {params.task} {params.experiments}"
        " --output {output.table} --page {output.page} > {log} 2>&1"
