"""The forward pass of Universal Sentence Encoder, with what repeats computed once.

The model looks at a text through windows: a token, then its neighbours, then their neighbours, up
to four tokens to each side; what comes of the windows is added up.
A passage is embedded whole and sentence by sentence, each sentence under the same breadcrumb, so
most windows of one batch are there several times.
Here every window is computed once for all texts of a batch.
A product with the weights is made for each part of a window and not for the window, since parts
repeat more often than windows do.
The vectors are those of the package, up to the rounding of sums in another order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Places = NDArray[np.int64]

_DIMENSIONS = 512
_BRANCH = 256
# The table of embeddings was cut into so many parts, each with a scale of its own.
_PARTS = 17
# Each branch looks at so many tokens at a time, so many of them to the left of its own.
_BRANCHES = ((2, 0), (3, 1), (5, 2))
_LEFT, _RIGHT = 2, 2

# Texts are taken together up to so many tokens: enough for a few passages with their sentences,
# and no more than a few megabytes for what is computed of them.
_TOKENS = 1_400


class Encoder:
    """The weights of the model and the pass over them; safe to use from several threads."""

    def __init__(self, weights: Mapping[str, Any], tokenizer: Any) -> None:
        """`weights` are those of the package by their names there, its windows `spread`."""
        self._weights = weights
        self._tokenizer = tokenizer

    def encode(self, texts: Sequence[str]) -> Floats:
        """One unit row per text, in order; neighbours are computed together."""
        rows = np.empty((len(texts), _DIMENSIONS), np.float32)
        group: list[list[int]] = []
        tokens = first = 0
        for place, text in enumerate(texts):
            ids = self._tokenizer.encode(text)
            if group and tokens + len(ids) > _TOKENS:
                rows[first:place] = self._together(group)
                group, tokens, first = [], 0, place
            group.append(ids)
            tokens += len(ids)
        if group:
            rows[first:] = self._together(group)
        return rows

    def _together(self, group: Sequence[Sequence[int]]) -> Floats:
        lengths = np.fromiter(map(len, group), np.int64, len(group))
        tokens, at = np.unique(
            np.fromiter(chain.from_iterable(group), np.int64), return_inverse=True
        )
        features, windows = self._features(tokens, at, _neighbours(lengths))
        # How often each window is in each text; adding them up is a product with that.
        places = np.repeat(np.arange(len(group)) * len(features), lengths) + windows
        counts = np.bincount(places, minlength=len(group) * len(features))
        sums = counts.astype(np.float32).reshape(len(group), -1) @ features
        return self._finished(sums, lengths.astype(np.float32)[:, None])

    def _features(self, tokens: Places, at: Places, neighbours: Places) -> tuple[Floats, Places]:
        """What the widest windows say, a row for each that is different, and where each is."""
        own = self._weights
        part = tokens % _PARTS
        embedded = own["table"][tokens].astype(np.float32)
        embedded *= own["scale"][part, None]
        embedded += own["lo"][part, None]
        inside = embedded @ own["proj_W"]
        inside += own["proj_b"]
        _normalize(inside, own["ln_g_all"], own["ln_b_all"], own["eps"])
        seen = []
        for branch, (width, left) in enumerate(_BRANCHES):
            columns = slice(branch * _BRANCH, (branch + 1) * _BRANCH)
            near = neighbours[:, _LEFT - left : _LEFT - left + width]
            layer = _Layer(_with_nothing(inside[:, columns]), at, np.arange(len(tokens)))
            for one, bias in (("w1", "b1"), ("w2", "b2")):
                layer = _wider(layer, near, left, own[one][branch], own[bias][branch])
            seen.append(layer)
        # The last branch sees the most: where its windows are equal, so are those of the others.
        first = seen[-1].first
        features = np.hstack(
            [embedded[at[first]], *(layer.values[layer.at[first]] for layer in seen)]
        )
        _normalize(features, own["ln_g"], own["ln_b"], own["eps"])
        return features, seen[-1].at

    def _finished(self, sums: Floats, lengths: Floats) -> Floats:
        own = self._weights
        mean = sums @ own["cnn_W"]
        mean += lengths * own["cnn_b"]
        mean *= np.reciprocal(np.sqrt(lengths))
        hidden = mean @ own["p1"]
        hidden += np.maximum(mean @ own["d0"], 0) @ own["d1"]
        np.maximum(hidden, 0, out=hidden)
        rows: Floats = hidden @ own["p3"]
        rows += np.maximum(hidden @ own["d2"], 0) @ own["d3"]
        np.tanh(rows, out=rows)
        squares = np.einsum("ij,ij->i", rows, rows)
        rows *= np.reciprocal(np.sqrt(np.maximum(squares, own["eps"])))[:, None]
        return rows


def spread(weights: Floats) -> Floats:
    """The weights of a window, one block below the other, side by side instead."""
    blocks = weights.reshape(-1, _BRANCH, weights.shape[1])
    return np.ascontiguousarray(blocks.transpose(1, 0, 2).reshape(_BRANCH, -1))


class _Layer(NamedTuple):
    """Different windows: what each says, which is at each token, and at which token each is first.

    After the last window comes a row of zeros for places outside a text.
    """

    values: Floats
    at: Places
    first: Places


def _wider(layer: _Layer, near: Places, left: int, weights: Floats, bias: Floats) -> _Layer:
    """The windows over windows; `near` are the tokens in each, one beyond the last for none."""
    width = near.shape[1]
    windows = np.append(layer.at, len(layer.values) - 1)[near]
    first, at = _different(windows, len(layer.values))
    windows = windows[first]
    products = (layer.values @ weights).reshape(-1, _BRANCH)
    values = np.zeros((len(first) + 1, _BRANCH), np.float32)
    inner = values[:-1]
    part = np.empty_like(inner)
    for place in range(width):
        np.take(products, windows[:, place] * width + place, axis=0, out=part, mode="clip")
        inner += part
    inner += bias
    np.maximum(inner, 0, out=inner)
    inner += layer.values[windows[:, left]]
    return _Layer(values, at, first)


def _different(rows: Places, base: int) -> tuple[Places, Places]:
    """Where each different row is first, and which each row is; its numbers are below `base`."""
    width = rows.shape[1]
    if base**width < 2**63:
        # A row is the digits of one number.
        keys: Places = rows @ (base ** np.arange(width))
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    else:
        _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, which.reshape(-1)


def _neighbours(lengths: Places) -> Places:
    """The tokens around each token of texts that lie end to end; their number where none is."""
    total = int(lengths.sum())
    ends = np.repeat(np.cumsum(lengths), lengths)[:, None]
    starts = ends - np.repeat(lengths, lengths)[:, None]
    near = np.arange(total)[:, None] + np.arange(-_LEFT, _RIGHT + 1)
    return np.where((near >= starts) & (near < ends), near, total)


def _with_nothing(values: Floats) -> Floats:
    return np.concatenate((values, np.zeros((1, values.shape[1]), np.float32)))


def _normalize(rows: Floats, scale: Floats, shift: Floats, least: float) -> None:
    """Bring each row to mean 0 and variance 1, then scale and shift it, in place."""
    rows -= rows.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", rows, rows) / rows.shape[1]
    rows *= np.reciprocal(np.sqrt(variance + least))[:, None]
    rows *= scale
    rows += shift
