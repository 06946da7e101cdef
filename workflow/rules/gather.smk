"""One table of each kind from the parts that the jobs wrote, checked against the size of the grid."""

GATHER_SCRIPT = "scripts/gather_tables.py"
GATHERED = {
    "theory/fixed_points": (theory_parts(), theory_rows()),
    "theory/transitions": (transition_parts(), 2 * len(transition_parts())),
    "simulations/runs": (simulation_parts(), simulation_rows()),
    "baseline/linear": (baseline_parts(), baseline_rows()),
}


rule gather:
    input:
        script=GATHER_SCRIPT,
        code=code_files(GATHER_SCRIPT),
        parts=lambda w: GATHERED[w.table][0],
    output:
        RESULTS + "/{table}.parquet",
    params:
        rows=lambda w: GATHERED[w.table][1],
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
        "python {input.script} --table {params.table} --rows {params.rows} --output {output} {input.parts}"
        " > {log} 2>&1"
