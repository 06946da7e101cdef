"""A one-layer transformer that learns to count letters, by position or by meaning: the paper's first illustration."""

from solvable_attention.counting.data import CountingTask, Split, count_letters, draw_split
from solvable_attention.counting.model import MECHANISMS, Architecture, attention, initial_weights, logits
from solvable_attention.counting.second_stage import distances, unrestricted_weights
from solvable_attention.counting.semantic_share import semantic_share
from solvable_attention.counting.training import Training, train

__all__ = [
    "MECHANISMS",
    "Architecture",
    "CountingTask",
    "Split",
    "Training",
    "attention",
    "count_letters",
    "distances",
    "draw_split",
    "initial_weights",
    "logits",
    "semantic_share",
    "train",
    "unrestricted_weights",
]
