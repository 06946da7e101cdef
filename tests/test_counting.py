"""The counting experiment: data, model, both stages of training, and the score of its attention."""

import importlib.util
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from solvable_attention.counting import (
    MECHANISMS,
    Architecture,
    CountingTask,
    Training,
    attention,
    count_letters,
    distances,
    draw_split,
    initial_weights,
    logits,
    semantic_share,
    train,
    unrestricted_weights,
)
from solvable_attention.counting.data import epoch_order
from solvable_attention.counting.training import State, evaluate
from solvable_attention.errors import ArgumentError

TASK = CountingTask(letters=5, length=4, sequences=400)
MODEL = Architecture(TASK, width=12, hidden=10)
RUNS = [0, 1, 2]


@pytest.fixture(scope="module")
def split():
    return draw_split(TASK, 7)


def tensors(sequences, runs=3):
    return torch.from_numpy(sequences).expand(runs, -1, -1)


# Data


def test_labels_count_every_letter(split):
    for sequences, labels in ((split.train, split.train_labels), (split.validation, split.validation_labels)):
        for sequence, label in zip(sequences.tolist(), labels.tolist(), strict=True):
            counts = Counter(sequence)
            assert label == [counts[letter] for letter in sequence]
    assert count_letters(np.array([[3, 3, 1, 3]])).tolist() == [[3, 3, 1, 3]]


def test_no_sequence_is_on_both_sides_or_twice(split):
    train_set, validation = (set(map(tuple, x.tolist())) for x in (split.train, split.validation))
    assert len(train_set) == len(split.train) and len(validation) == len(split.validation)
    assert not train_set & validation
    assert len(train_set) == int(0.7 * (len(train_set) + len(validation)))
    assert len(train_set) + len(validation) < 400  # of 5⁴ sequences some are drawn twice


def test_the_published_task_has_no_duplicates_to_speak_of():
    split = draw_split(CountingTask(), 0)
    assert split.train.shape == (35_000, 10) and split.validation.shape == (15_000, 10)
    assert np.abs(np.bincount(split.train.ravel()) / split.train.size - 1 / 15).max() < 2e-3


def test_a_seed_names_the_data(split):
    again, other = draw_split(TASK, 7), draw_split(TASK, 8)
    assert np.array_equal(again.train, split.train) and np.array_equal(again.validation, split.validation)
    assert not np.array_equal(other.train[:10], split.train[:10])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: CountingTask(letters=1), ["letters", "1", "≥ 2"]),
        (lambda: CountingTask(train_share=1.0), ["train_share", "1.0", "(0, 1)"]),
        (lambda: draw_split(CountingTask(2, 2, 2, 0.1), 0), ["train_share", "at least one"]),
        (lambda: Architecture(width=7), ["width", "7", "even"]),
        (lambda: Architecture(hidden=0), ["hidden", "0", "≥ 1"]),
        (lambda: Training(optimizer="lbfgs"), ["optimizer", "lbfgs", "adam"]),
        (lambda: Training(step=0.0), ["step", "0.0", "positive"]),
        (lambda: Training(epochs=0), ["epochs", "0", "≥ 1"]),
        (lambda: initial_weights(MODEL, "lexical", RUNS, 0), ["mechanism", "lexical", "positional"]),
        (lambda: unrestricted_weights({}, "both", RUNS, 0), ["mechanism", "both", "restricted"]),
        (lambda: unrestricted_weights(initial_weights(MODEL, "both", RUNS, 0), "semantic", [0], 0), ["runs", "[0]"]),
        (lambda: semantic_share(initial_weights(MODEL, "both", RUNS, 0), "lexical"), ["mechanism", "lexical"]),
    ],
)
def test_bad_arguments_are_named(call, words):
    with pytest.raises(ArgumentError) as refusal:
        call()
    assert all(word in str(refusal.value) for word in words)


# Model


def plain_model(weights, mechanism, run, sequence):
    """One sequence through the model as it is written down, in float64: logits (L, classes) and attention (L, L)."""
    w = {name: value[run].double() for name, value in weights.items()}
    width = w["Q"].shape[0]
    half = width // 2
    letters, places = w["letters"][sequence].clone(), w["places"].clone()
    if mechanism != "both":
        letters[:, half:] = 0
        places[:, :half] = 0
    x = letters + places
    read = x.clone()
    if mechanism == "semantic":
        read[:, half:] = 0
    if mechanism == "positional":
        read[:, :half] = 0
    A = torch.softmax((read @ w["Q"]) @ (read @ w["K"]).T / width**0.5, dim=-1)
    layer = torch.nn.LayerNorm(width, dtype=torch.float64)
    normal = layer(A @ (x @ w["V"])) * w["norm_scale"] + w["norm_shift"]
    return torch.relu(normal @ w["W1"] + w["b1"]) @ w["W2"] + w["b2"], A


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_model_is_the_one_that_is_written_down(mechanism, split):
    weights = initial_weights(MODEL, mechanism, RUNS, 3)
    rng = torch.Generator().manual_seed(0)
    for name in ("norm_scale", "norm_shift"):  # 1 and 0 at the start
        weights[name] += 0.3 * torch.randn(weights[name].shape, generator=rng)
    sequences = tensors(split.train[:6])
    outputs = logits(weights, mechanism, sequences).mT.reshape(len(RUNS), 6, 4, -1)
    A = attention(weights, mechanism, sequences)
    for run in RUNS:
        for i in range(6):
            expected, expected_attention = plain_model(weights, mechanism, run, sequences[run, i])
            np.testing.assert_allclose(outputs[run, i], expected.detach(), atol=2e-5)
            np.testing.assert_allclose(A[run, i], expected_attention, atol=1e-6)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_gradients_are_those_of_the_plain_model(mechanism, split):
    weights = {name: w.requires_grad_() for name, w in initial_weights(MODEL, mechanism, [0], 3).items()}
    sequences, labels = split.train[:5], torch.from_numpy(split.train_labels[:5])
    outputs = logits(weights, mechanism, tensors(sequences, 1))
    torch.nn.functional.cross_entropy(outputs[0].T, labels.flatten()).backward()
    ours = {name: w.grad.clone() for name, w in weights.items()}
    for w in weights.values():
        w.grad = None
    plain = torch.cat([plain_model(weights, mechanism, 0, torch.from_numpy(x))[0] for x in sequences])
    torch.nn.functional.cross_entropy(plain, labels.flatten()).backward()
    for name, w in weights.items():
        np.testing.assert_allclose(ours[name], w.grad, atol=1e-5, err_msg=name)


def test_restricted_attention_ignores_the_other_half(split):
    sequences = tensors(split.train[:20])
    positional = attention(initial_weights(MODEL, "positional", RUNS, 0), "positional", sequences)
    assert torch.equal(positional, positional[:, :1].expand_as(positional))
    weights = initial_weights(MODEL, "semantic", RUNS, 0)
    order = [2, 0, 3, 1]
    moved = attention(weights, "semantic", sequences[:, :, order])
    np.testing.assert_allclose(moved, attention(weights, "semantic", sequences)[:, :, order][..., order], atol=1e-6)


def test_runs_have_weights_of_their_own():
    together, alone = initial_weights(MODEL, "both", RUNS, 3), initial_weights(MODEL, "both", [2], 3)
    for name, value in together.items():
        assert torch.equal(value[2], alone[name][0])
    assert not torch.equal(together["Q"][0], together["Q"][1])
    assert together["Q"].abs().max() <= 12**-0.5 and together["W2"].abs().max() <= 10**-0.5


# Training


def trained(split, mechanism="semantic", runs=RUNS, after_epoch=lambda state: None, start=None, **options):
    training = Training(**{"step": 1e-2, "epochs": 4, "batch": 16, **options})
    start = start or State(initial_weights(MODEL, mechanism, runs, 3))
    return train(start, mechanism, split, training, [(run,) for run in runs], 3, after_epoch)


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_runs_that_train_together_end_like_runs_alone(optimizer, split):
    together = trained(split, optimizer=optimizer)
    for run in RUNS:
        alone = trained(split, runs=[run], optimizer=optimizer)
        for name, value in together.weights.items():
            np.testing.assert_allclose(value[run], alone.weights[name][0], atol=2e-4, err_msg=name)


def test_training_follows_the_plain_optimizer(split):
    """Our first epoch against torch's own Adam on the plain model, batch by batch."""
    ours = trained(split, epochs=1, runs=[0])
    weights = {name: w.requires_grad_() for name, w in initial_weights(MODEL, "semantic", [0], 3).items()}
    optimizer = torch.optim.Adam(weights.values(), lr=1e-2, betas=(0.9, 0.98), eps=1e-9)
    for batch in torch.from_numpy(epoch_order(3, (0,), 0, len(split.train))).split(16):
        optimizer.zero_grad()
        outputs = torch.cat([plain_model(weights, "semantic", 0, torch.from_numpy(split.train[i]))[0] for i in batch])
        labels = torch.from_numpy(split.train_labels)[batch].flatten()
        torch.nn.functional.cross_entropy(outputs, labels).backward()
        optimizer.step()
    for name, value in ours.weights.items():
        np.testing.assert_allclose(value, weights[name].detach(), atol=2e-3, err_msg=name)


def test_a_resumed_training_ends_in_the_same_weights(split):
    states = []
    straight = trained(split, after_epoch=states.append)
    resumed = trained(split, start=states[1])
    assert states[1].epochs == 2 and resumed.epochs == 4
    for name, value in straight.weights.items():
        assert torch.equal(value, resumed.weights[name])
    assert np.array_equal(np.stack(straight.train_loss), np.stack(resumed.train_loss))


def test_both_mechanisms_learn_to_count(split):
    for mechanism in ("positional", "semantic"):
        start = State(initial_weights(replace(MODEL, width=32, hidden=32), mechanism, RUNS, 3))
        end = trained(split, mechanism, start=start, epochs=60)
        assert end.validation_accuracy[-1].mean() > 0.8 > 0.7 > end.validation_accuracy[0].mean()


def test_evaluation_counts_right_letters(split):
    weights = trained(split, "positional", epochs=2).weights
    sequences, labels = split.validation[:30], split.validation_labels[:30]
    loss, accuracy = evaluate(weights, "positional", *map(torch.from_numpy, (sequences, labels)))
    for run in RUNS:
        outputs = [plain_model(weights, "positional", run, torch.from_numpy(x))[0].detach() for x in sequences]
        outputs = torch.cat(outputs)
        right = outputs.argmax(dim=1).numpy() == labels.ravel()
        chance = torch.softmax(outputs, dim=1)[torch.arange(labels.size), torch.from_numpy(labels.ravel())]
        assert accuracy[run] == pytest.approx(right.mean()) and 0 < right.mean() < 1
        assert loss[run] == pytest.approx(-chance.log().mean().item(), rel=1e-5)


def test_a_training_that_diverges_is_refused(split):
    with pytest.raises(ArgumentError, match=r"^step: is 1e\+30, allowed"):
        trained(split, optimizer="sgd", step=1e30)


# Second stage


@pytest.mark.parametrize("mechanism", ["positional", "semantic"])
def test_the_unrestricted_model_starts_as_the_same_function(mechanism, split):
    solution = trained(split, mechanism, epochs=2).weights
    sequences = tensors(split.validation[:30])
    free = unrestricted_weights(solution, mechanism, RUNS, 3, noise=0.0)
    np.testing.assert_allclose(logits(free, "both", sequences), logits(solution, mechanism, sequences), atol=1e-5)
    noisy = unrestricted_weights(solution, mechanism, RUNS, 3, noise=1e-3)
    for name in ("Q", "K", "letters", "places"):
        assert (noisy[name] - free[name]).std() == pytest.approx(1e-3, rel=0.2)
    assert all(torch.equal(noisy[name], free[name]) for name in ("V", "W1", "W2", "b1", "b2"))


def test_distances_are_summed_over_tensors_and_of_the_whole():
    before = {"a": torch.zeros(2, 2, 2), "b": torch.zeros(2, 3)}
    after = {"a": torch.full((2, 2, 2), 1.5), "b": torch.tensor([[4.0, 0, 0], [0, 0, 0]])}
    found = distances(before, after)
    np.testing.assert_allclose(found["summed"], [7.0, 3.0])
    np.testing.assert_allclose(found["whole"], [5.0, 3.0])


# Semantic share


def converged(split, mechanism):
    start = State(initial_weights(replace(MODEL, width=32, hidden=32), mechanism, RUNS, 3))
    return trained(split, mechanism, start=start, epochs=30).weights


def test_restricted_solutions_score_at_the_ends(split):
    for mechanism, end in (("positional", 0.0), ("semantic", 1.0)):
        solution = converged(split, mechanism)
        np.testing.assert_allclose(semantic_share(solution, mechanism), end, atol=1e-12)
        free = unrestricted_weights(solution, mechanism, RUNS, 3, noise=1e-3)
        np.testing.assert_allclose(semantic_share(free, "both"), end, atol=1e-3)


def test_share_is_that_of_sampled_keys():
    """Variance over the letter and over the place of a key, from tokens drawn at random."""
    weights = initial_weights(MODEL, "both", [0], 0)
    w = {name: value[0].double().numpy() for name, value in weights.items()}
    rng = np.random.default_rng(0)
    queries = (w["letters"][:, None] + w["places"]).reshape(-1, 12) @ w["Q"]
    letters, places = rng.integers(5, size=4000), rng.integers(4, size=4000)
    by_letter, by_place = (x @ w["K"] @ queries.T for x in (w["letters"][letters], w["places"][places]))
    C, P = (z.var(axis=0).mean() for z in (by_letter, by_place))
    np.testing.assert_allclose(semantic_share(weights, "both"), C / (C + P), atol=0.02)


def test_share_does_not_depend_on_the_scale_of_the_scores():
    weights = initial_weights(MODEL, "both", RUNS, 0)
    louder = {**weights, "Q": 30 * weights["Q"]}
    share = semantic_share(weights, "both")
    assert ((share > 0.1) & (share < 0.9)).all()
    np.testing.assert_allclose(semantic_share(louder, "both"), share, rtol=1e-5)


def test_attention_of_every_place_to_itself_is_positional():
    """Equal off the diagonal and moved along by permutations of places, it could be taken for either."""
    weights = initial_weights(MODEL, "both", [0], 0)
    weights["letters"] *= 1e-3
    weights["places"] = 5 * torch.eye(12)[None, :4]
    weights["Q"] = weights["K"] = torch.eye(12)[None]
    A = attention(weights, "both", tensors(np.array([[0, 1, 2, 3]]), 1))[0, 0]
    assert (A.diagonal() > 0.9).all() and semantic_share(weights, "both") < 1e-3


def test_share_of_flat_scores_is_unknown():
    weights = initial_weights(MODEL, "both", RUNS, 0)
    flat = {**weights, "Q": torch.zeros_like(weights["Q"])}
    assert np.isnan(semantic_share(flat, "both")).all()


def test_sizes_other_than_the_published_ones():
    task = replace(TASK, letters=9, length=6, sequences=50)
    model = Architecture(task, width=4, hidden=3)
    split = draw_split(task, 0)
    for mechanism in MECHANISMS:
        outputs = logits(initial_weights(model, mechanism, [0], 0), mechanism, tensors(split.train, 1))
        assert outputs.shape == (1, 7, 6 * len(split.train)) and torch.isfinite(outputs).all()


# The module that the benchmark compares with


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_benchmarks_plain_module_is_the_same_model(mechanism, monkeypatch):
    folder = Path(__file__).parents[1] / "benchmarks"
    monkeypatch.syspath_prepend(folder)  # for its module `timing`
    spec = importlib.util.spec_from_file_location("counting_benchmark", folder / "counting.py")
    benchmark = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, benchmark)  # dataclasses look their module up
    spec.loader.exec_module(benchmark)
    weights = {name: value[0] for name, value in initial_weights(MODEL, mechanism, [0], 3).items()}
    plain = benchmark.PlainModel(MODEL, mechanism)
    layers = {
        "letters.weight": "letters", "places.weight": "places", "norm.weight": "norm_scale", "norm.bias": "norm_shift",
        "first.bias": "b1", "last.bias": "b2",
    }  # fmt: skip
    turned = {"Q.weight": "Q", "K.weight": "K", "V.weight": "V", "first.weight": "W1", "last.weight": "W2"}
    state = {ours: weights[name] for ours, name in layers.items()}
    plain.load_state_dict(state | {ours: weights[name].mT for ours, name in turned.items()})
    sequences = torch.from_numpy(np.random.default_rng(0).integers(0, TASK.letters, (6, TASK.length)))
    ours = logits({name: value[None] for name, value in weights.items()}, mechanism, sequences[None])[0]
    theirs = plain(sequences).flatten(0, 1)  # rows are places of sequences
    torch.testing.assert_close(ours.mT, theirs, rtol=1e-5, atol=1e-5)
