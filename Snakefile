"""Positional and semantic learning in a solvable model of dot-product attention: theory, simulation, figures."""

from snakemake.utils import min_version

min_version("9.19")


configfile: "config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/theory.smk"
include: "workflow/rules/simulations.smk"
include: "workflow/rules/landscape.smk"
include: "workflow/rules/baseline.smk"
include: "workflow/rules/counting.smk"
include: "workflow/rules/gather.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/extensions.smk"


localrules:
    all,
    theory,
    simulations,
    baseline,
    theory_map,
    simulation_map,
    paper_figures,
    counting,
    extensions,
    gather,
    crossings,


# The tables are named beside the figures: a fresh clone holds the committed figures, and has to compute all the same.
rule all:
    default_target: True
    input:
        rules.theory.input,
        rules.simulations.input,
        rules.baseline.input,
        rules.paper_figures.input,
