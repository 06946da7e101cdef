"""One table of each kind from the parts that the jobs wrote, checked against the size of the grid, and its targets."""

GATHER_SCRIPT = "scripts/gather_tables.py"
CROSSINGS_SCRIPT = "scripts/crossings.py"
# Table: its parts and its rows, where the grid tells them. A table without parts does not exist.
GATHERED = {
    table: (parts, rows)
    for table, parts, rows in (
        ("theory/fixed_points", theory_parts(), theory_rows()),
        ("theory/transitions", transition_parts(), transition_rows()),
        ("theory/scan", scan_parts(), None),
        ("simulations/runs", simulation_parts(), simulation_rows()),
        ("simulations/landscape", landscape_parts(), None),
        ("baseline/linear", baseline_parts(), baseline_rows()),
        ("counting/curves", CURVES_PARTS, CURVES_ROWS),
        ("extensions/fixed_points", theory_parts(EXTENSIONS), theory_rows(EXTENSIONS)),
        ("extensions/transitions", transition_parts(EXTENSIONS), transition_rows(EXTENSIONS)),
        ("extensions/runs", simulation_parts(EXTENSIONS), simulation_rows(EXTENSIONS)),
    )
    if parts
}


rule gather:
    input:
        script=GATHER_SCRIPT,
        code=code_files(GATHER_SCRIPT),
        parts=lambda w: GATHERED[w.table][0],
    output:
        RESULTS + "/{table}.parquet",
    params:
        rows=lambda w: arguments(rows=GATHERED[w.table][1]),
        table=lambda w: Path(w.table).name,
    wildcard_constraints:
        table="|".join(GATHERED),
    log:
        "logs/" + RESULTS + "/{table}.log",
    benchmark:
        "logs/" + RESULTS + "/{table}.benchmark.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} --table {params.table} {params.rows} --output {output} {input.parts}"
        " > {log} 2>&1"


rule theory:
    input:
        [f"{RESULTS}/{table}.parquet" for table in GATHERED if table.startswith("theory/")],


rule simulations:
    input:
        [f"{RESULTS}/{table}.parquet" for table in GATHERED if table.startswith("simulations/")],
        f"{RESULTS}/simulations/crossings.parquet",


rule baseline:
    input:
        [f"{RESULTS}/{table}.parquet" for table in GATHERED if table.startswith("baseline/")],


# The two maps of figure 3 alone, which benchmarks/maps.py times.
rule theory_map:
    input:
        theory_parts(pick(EXPERIMENTS, config["figure3"]["diagram"])),


rule simulation_map:
    input:
        simulation_parts(pick(EXPERIMENTS, config["figure3"]["diagram"])),


rule crossings:
    input:
        script=CROSSINGS_SCRIPT,
        code=code_files(CROSSINGS_SCRIPT),
        runs=f"{RESULTS}/simulations/runs.parquet",
        linear=f"{RESULTS}/baseline/linear.parquet",
    output:
        f"{RESULTS}/simulations/crossings.parquet",
    params:
        task=diagram_task_arguments,
        options=arguments(bootstrap=config["figure3"]["bootstrap"], root_seed=config["seed"]),
    log:
        f"logs/{RESULTS}/simulations/crossings.log",
    benchmark:
        f"logs/{RESULTS}/simulations/crossings.benchmark.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    conda:
        ENVIRONMENT
    shell:
        "python {input.script} --runs {input.runs} --linear {input.linear} {params.task} {params.options}"
        " --output {output} > {log} 2>&1"
