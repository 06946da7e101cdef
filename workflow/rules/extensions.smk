"""The extensions: their figures and scorecard, drawn from tables of their own. Their jobs are those of the experiments."""

EXTENSION_FIGURES = config["extension_figures"]
EXTENSION_TABLES = {name: f"{RESULTS}/extensions/{name}.parquet" for name in ("fixed_points", "transitions", "runs")}


def cases(names: list[str]) -> str:
    """The option --cases: what the tasks of some extensions are, in the order given."""
    return arguments(cases=json.dumps({name: task_options(EXTENSIONS[name]) for name in names}))


# Figure: script, the tables that it reads, and its other options.
EXTENSIONS_DRAWN = {
    **{
        f"extension_{part['figure']}": ("extension_branches", tuple(EXTENSION_TABLES), cases(part["rows"]))
        for part in EXTENSION_FIGURES["branches"]
    },
    "extension_correlation_line": ("extension_correlation_line", ("transitions",), cases(EXTENSION_FIGURES["correlation"])),
    "extension_untied_diagram": (
        "extension_untied_diagram",
        ("transitions", "runs"),
        cases(EXTENSION_FIGURES["untied_diagram"]),
    ),
}


for figure, (script, tables, options) in EXTENSIONS_DRAWN.items():

    rule:
        name:
            figure
        localrule: True
        input:
            **pick(EXTENSION_TABLES, *tables),
            script=f"scripts/{script}.py",
            code=code_files(f"scripts/{script}.py"),
        output:
            pdf=report(f"{FIGURES}/{figure}.pdf", category="Extensions", caption=f"../report/{script}.rst"),
            png=f"{FIGURES}/{figure}.png",
            caption=f"{FIGURES}/{figure}.md",
        params:
            options=f"{arguments(**pick(EXTENSION_TABLES, *tables))} {options}",
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


rule extension_agreement:
    localrule: True
    input:
        **EXTENSION_TABLES,
        script="scripts/extension_agreement.py",
        code=code_files("scripts/extension_agreement.py"),
    output:
        table=f"{RESULTS}/extensions/agreement.parquet",
        page=f"{FIGURES}/scorecard_extensions.md",
    params:
        tables=arguments(**EXTENSION_TABLES),
        cases=cases([name for part in EXTENSION_FIGURES["branches"] for name in part["rows"]]),
    log:
        f"logs/{RESULTS}/extensions/agreement.log",
    benchmark:
        f"logs/{RESULTS}/extensions/agreement.benchmark.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} {params.tables} {params.cases} --output {output.table} --page {output.page} > {log} 2>&1"


rule extensions:
    input:
        list(EXTENSION_TABLES.values()),
        expand(f"{FIGURES}/{{name}}.{{suffix}}", name=EXTENSIONS_DRAWN, suffix=["pdf", "png", "md"]),
        rules.extension_agreement.output,
