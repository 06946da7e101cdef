"""Figures, drawn from the gathered tables alone."""

FIGURE2_SCRIPT = "scripts/figure2.py"
AGREEMENT_SCRIPT = "scripts/agreement.py"


def slice_task(_) -> str:
    """Options of the one task that figure 2 shows."""
    name = config["figure2"]["slice"]
    omegas, (sigma, *_), lams = ([float(x) for x in EXPERIMENTS[name][key]] for key in ("omega", "sigma", "lam"))
    return task_arguments(name, omegas[:1], sigma, lams[:1])


rule paper_figures:
    input:
        expand(f"{FIGURES}/figure2.{{suffix}}", suffix=["pdf", "png", "md"]),
        f"{FIGURES}/agreement.md",


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
