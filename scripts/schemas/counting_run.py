"""What names a run in every table of the counting experiment."""

from tables import count, one_of

# In stage 2, which trains the unrestricted model, the mechanism that the run comes from.
RUN = {"mechanism": one_of(["positional", "semantic", "both"]), "stage": count(1), "run": count()}
