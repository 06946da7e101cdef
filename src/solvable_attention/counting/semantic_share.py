"""How semantic the scores of an attention are, between 0 (positional) and 1 (semantic)."""

from __future__ import annotations

import numpy as np

from solvable_attention.counting.model import Weights, scores

# Below this variance, of scores of order one, attention is uniform to five digits and has no mechanism.
_FLAT = 1e-10


def semantic_share(weights: Weights, mechanism: str) -> np.ndarray:
    """S = C/(C + P) of each run, (runs,); NaN where the scores depend on neither letter nor place of a key.

    A score z[a, i; b, j] of a query (letter a, place i) and a key (letter b, place j) is a sum of a term that depends
    on b and one that depends on j, since keys are linear in the embeddings of both, and softmax does not see what
    depends on the query alone. C is the variance of z over the letters b and P that over the places j of the key,
    letters and places being equally likely, averaged over queries:

        C = E_{a,i} Var_b E_j z,   P = E_{a,i} Var_j E_b z.

    A model whose queries and keys see places only has S = 0, one that sees letters only has S = 1; S is the same for
    all multiples of the scores. It is a measure of scores, not of the attention that softmax makes of them.
    """
    table = scores(weights, mechanism).detach().double()
    letters, places = weights["letters"].shape[1], weights["places"].shape[1]
    if mechanism == "semantic":
        table = table[:, :, None, :, None]
    elif mechanism == "positional":
        table = table[:, None, :, None, :]
    else:
        table = table.view(-1, letters, places, letters, places)
    by_letter = table.mean(dim=4).var(dim=3, correction=0).mean(dim=(1, 2)).numpy()
    by_place = table.mean(dim=3).var(dim=3, correction=0).mean(dim=(1, 2)).numpy()
    total = by_letter + by_place
    return np.where(total > _FLAT, by_letter / np.maximum(total, _FLAT), np.nan)
