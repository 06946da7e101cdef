"""Figures, drawn from the gathered tables alone."""

FIGURE2_SCRIPT = "scripts/figure2.py"
AGREEMENT_SCRIPT = "scripts/agreement.py"
FIGURE3_SCRIPT = "scripts/figure3.py"
FIGURE3_MAPS_SCRIPT = "scripts/figure3_maps.py"
TRANSITION_LINES_SCRIPT = "scripts/transition_lines.py"
SCORECARD_SCRIPT = "scripts/scorecard.py"
FIGURE_NAMES = ("figure2", "figure3", "figure3_maps", "transition_lines")


def pick(names: dict, *keys: str) -> dict:
    """Some of the experiments that a figure draws."""
    return {key: names[key] for key in keys}


def slice_task(_) -> str:
    """Options of the one task that figure 2 shows."""
    name = config["figure2"]["slice"]
    omegas, (sigma, *_), lams = (values(EXPERIMENTS[name], key) for key in ("omega", "sigma", "lam"))
    return task_arguments(name, omegas[:1], sigma, lams[:1])


rule paper_figures:
    input:
        expand(f"{FIGURES}/{{name}}.{{suffix}}", name=FIGURE_NAMES, suffix=["pdf", "png", "md"]),
        f"{FIGURES}/agreement.md",
        f"{FIGURES}/scorecard.md",


rule figure2:
    input:
        script=FIGURE2_SCRIPT,
        code=code_files(FIGURE2_SCRIPT),
        fixed_points=f"{RESULTS}/theory/fixed_points.parquet",
        transitions=f"{RESULTS}/theory/transitions.parquet",
        runs=f"{RESULTS}/simulations/runs.parquet",
        linear=f"{RESULTS}/baseline/linear.parquet",
    output:
        pdf=report(f"{FIGURES}/figure2.pdf", category="Figures", caption="../report/figure2.rst"),
        png=f"{FIGURES}/figure2.png",
        caption=f"{FIGURES}/figure2.md",
    params:
        experiments=arguments(**config["figure2"]),
    log:
        f"logs/{FIGURES}/figure2.log",
    benchmark:
        f"logs/{FIGURES}/figure2.benchmark.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} --fixed-points {input.fixed_points} --transitions {input.transitions}"
        " --runs {input.runs} --linear {input.linear} {params.experiments}"
        " --pdf {output.pdf} --png {output.png} --caption {output.caption} > {log} 2>&1"


rule agreement:
    input:
        script=AGREEMENT_SCRIPT,
        code=code_files(AGREEMENT_SCRIPT),
        fixed_points=f"{RESULTS}/theory/fixed_points.parquet",
        runs=f"{RESULTS}/simulations/runs.parquet",
    output:
        f"{FIGURES}/agreement.md",
    params:
        task=slice_task,
        experiments=arguments(slice=config["figure2"]["slice"], restarts=config["figure2"]["restarts"]),
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
        "python {input.script} {params.task} --fixed-points {input.fixed_points} --runs {input.runs}"
        " {params.experiments} --output {output} > {log} 2>&1"


rule figure3:
    input:
        script=FIGURE3_SCRIPT,
        code=code_files(FIGURE3_SCRIPT),
        fixed_points=f"{RESULTS}/theory/fixed_points.parquet",
        transitions=f"{RESULTS}/theory/transitions.parquet",
        runs=f"{RESULTS}/simulations/runs.parquet",
        linear=f"{RESULTS}/baseline/linear.parquet",
    output:
        pdf=report(f"{FIGURES}/figure3.pdf", category="Figures", caption="../report/figure3.rst"),
        png=f"{FIGURES}/figure3.png",
        caption=f"{FIGURES}/figure3.md",
    params:
        experiments=arguments(**pick(config["figure3"], "diagram", "scaling", "lines")),
    log:
        f"logs/{FIGURES}/figure3.log",
    benchmark:
        f"logs/{FIGURES}/figure3.benchmark.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} --fixed-points {input.fixed_points} --transitions {input.transitions} --runs {input.runs} --linear {input.linear}"
        " {params.experiments} --pdf {output.pdf} --png {output.png} --caption {output.caption} > {log} 2>&1"


rule figure3_maps:
    input:
        script=FIGURE3_MAPS_SCRIPT,
        code=code_files(FIGURE3_MAPS_SCRIPT),
        fixed_points=f"{RESULTS}/theory/fixed_points.parquet",
        transitions=f"{RESULTS}/theory/transitions.parquet",
        runs=f"{RESULTS}/simulations/runs.parquet",
        linear=f"{RESULTS}/baseline/linear.parquet",
    output:
        pdf=report(f"{FIGURES}/figure3_maps.pdf", category="Figures", caption="../report/figure3_maps.rst"),
        png=f"{FIGURES}/figure3_maps.png",
        caption=f"{FIGURES}/figure3_maps.md",
    params:
        experiments=arguments(**pick(config["figure3"], "diagram", "lines")),
    log:
        f"logs/{FIGURES}/figure3_maps.log",
    benchmark:
        f"logs/{FIGURES}/figure3_maps.benchmark.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} --fixed-points {input.fixed_points} --transitions {input.transitions} --runs {input.runs} --linear {input.linear}"
        " {params.experiments} --pdf {output.pdf} --png {output.png} --caption {output.caption} > {log} 2>&1"


rule transition_lines:
    input:
        script=TRANSITION_LINES_SCRIPT,
        code=code_files(TRANSITION_LINES_SCRIPT),
        transitions=f"{RESULTS}/theory/transitions.parquet",
        crossings=f"{RESULTS}/simulations/crossings.parquet",
    output:
        pdf=report(f"{FIGURES}/transition_lines.pdf", category="Figures", caption="../report/transition_lines.rst"),
        png=f"{FIGURES}/transition_lines.png",
        caption=f"{FIGURES}/transition_lines.md",
    params:
        task=diagram_task_arguments,
        experiments=arguments(**pick(config["figure3"], "lines", "ends")),
    log:
        f"logs/{FIGURES}/transition_lines.log",
    benchmark:
        f"logs/{FIGURES}/transition_lines.benchmark.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} --transitions {input.transitions} --crossings {input.crossings}"
        " {params.task} {params.experiments} --pdf {output.pdf} --png {output.png} --caption {output.caption} > {log} 2>&1"


rule scorecard:
    input:
        script=SCORECARD_SCRIPT,
        code=code_files(SCORECARD_SCRIPT),
        fixed_points=f"{RESULTS}/theory/fixed_points.parquet",
        transitions=f"{RESULTS}/theory/transitions.parquet",
        scan=f"{RESULTS}/theory/scan.parquet",
        runs=f"{RESULTS}/simulations/runs.parquet",
        linear=f"{RESULTS}/baseline/linear.parquet",
        crossings=f"{RESULTS}/simulations/crossings.parquet",
    output:
        table=f"{RESULTS}/scorecard.parquet",
        page=f"{FIGURES}/scorecard.md",
    params:
        task=diagram_task_arguments,
        experiments=arguments(
            **pick(config["figure2"], "slice", "restarts"), **pick(config["figure3"], "scaling", "lines", "census")
        ),
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
        "python {input.script} --fixed-points {input.fixed_points} --transitions {input.transitions}"
        " --scan {input.scan} --runs {input.runs} --linear {input.linear} --crossings {input.crossings}"
        " {params.task} {params.experiments} --output {output.table} --page {output.page} > {log} 2>&1"
