"""Scaled dot-product attention and its gradient in float64, one head at a time."""

import numpy as np

from elements import from_float_bits
from random_bits import random_words

BLOCK = 128  # queries and keys of a bit of a block mask


def number(node, field, default=None):
    value = node.get(field)
    if value is None:
        return default
    return from_float_bits(value) if isinstance(value, str) else value


def first(inputs, port, default):
    return float(inputs[port].reshape(-1)[0]) if port in inputs else default


def slopes(heads):
    """Of ALiBi, as published: of a power of two directly, else with every other of twice as many."""
    power = 2 ** int(np.floor(np.log2(heads))) if heads else 1
    own = [2.0 ** (-8.0 * (h + 1) / power) for h in range(power)]
    more = [2.0 ** (-8.0 * (h + 1) / (2 * power)) for h in range(0, 2 * power, 2)]
    return (own + more)[:heads]


def rows_of_pages(container, table, keys):
    """[pages, heads, rows, size] as [batches, heads, keys, size]; NaN for a page that is not there."""
    batches, heads, page_rows, size = table.shape[0], *container.shape[1:]
    result = np.full([batches, heads, keys, size], np.nan)
    for b in range(batches):
        for key in range(keys):
            page = int(table[b, 0, key // page_rows, 0])
            if 0 <= page < container.shape[0]:
                result[b, :, key] = container[page, :, key % page_rows]
    return result


class Problem:
    """What both directions read: Q, K, V of whole batches, which keys are seen, added scores, dropout."""

    def __init__(self, node, inputs, outputs):
        self.q, self.k, self.v = inputs["Q"], inputs["K"], inputs["V"]
        batches, heads, rows, _ = self.q.shape
        keys = self.key_count(node, inputs, outputs)
        if "Page_table_K" in inputs:
            self.k = rows_of_pages(self.k, inputs["Page_table_K"], keys)
        if "Page_table_V" in inputs:
            self.v = rows_of_pages(self.v, inputs["Page_table_V"], keys)
        self.shape = shape = [batches, heads, rows, keys]
        self.scale = first(inputs, "Attn_scale", number(node, "attn_scale_value", 1.0))
        self.added = np.zeros(shape) + inputs.get("Bias", 0.0)
        i, j = np.arange(rows)[:, None], np.arange(keys)[None, :]
        if node.get("alibi_mask"):
            self.added += np.array(slopes(heads))[:, None, None] * (j - i)
        self.seen = self.visible(node, inputs, i, j)
        self.sink = (inputs["SINK_TOKEN"].reshape(-1) if "SINK_TOKEN" in inputs
                     else np.full(heads, -np.inf))
        self.mask, self.factor = np.ones(shape), 1.0
        probability = number(node, "dropout_probability")
        if probability is not None:
            keep = 1.0 - float(np.float32(probability))
            words = random_words(first(inputs, "Seed", 0), first(inputs, "Offset", 0), int(np.prod(shape)))
            self.mask = (words.astype(np.float64) < keep * 2.0 ** 32).astype(np.float64).reshape(shape)
            self.factor = 1 / keep
        elif "Dropout_mask" in inputs:
            self.mask = np.broadcast_to(inputs["Dropout_mask"], shape)
            self.factor = first(inputs, "Dropout_scale", 1.0)

    @staticmethod
    def key_count(node, inputs, outputs):
        paged = [port for port in "KV" if f"Page_table_{port}" in inputs]
        if not paged:
            return inputs["K"].shape[2]
        if node.get("max_seq_len_kv") is not None:
            return node["max_seq_len_kv"]
        if len(paged) == 1:
            return inputs["V" if paged == ["K"] else "K"].shape[2]
        if inputs.get("Bias", np.zeros(1)).ndim == 4:
            return inputs["Bias"].shape[3]
        return min(inputs[f"Page_table_{port}"].shape[2] * inputs[port].shape[2] for port in paged)

    def visible(self, node, inputs, i, j):
        batches, _, rows, keys = self.shape
        padded = node.get("padding_mask")
        seen = np.zeros(self.shape, dtype=bool)
        for b in range(batches):
            length_q = np.clip(inputs["SEQ_LEN_Q"].reshape(-1)[b], 0, rows) if padded else rows
            length_kv = np.clip(inputs["SEQ_LEN_KV"].reshape(-1)[b], 0, keys) if padded else keys
            shift = length_kv - length_q if node.get("diagonal_alignment") == "BOTTOM_RIGHT" else 0
            allowed = (i < length_q) & (j < length_kv)
            if node.get("right_bound") is not None:
                allowed = allowed & (j <= i + shift + node["right_bound"])
            if node.get("left_bound") is not None:
                allowed = allowed & (j > i + shift - node["left_bound"])
            seen[b] = allowed
        if "Block_mask" in inputs:
            blocks = inputs["Block_mask"].astype(np.int64)
            tile = j // BLOCK
            seen &= (blocks[:, :, i // BLOCK, tile // 8] >> (tile % 8) & 1).astype(bool)
        return seen

    def head(self, tensor, b, h):
        return tensor[b, h // (self.shape[1] // tensor.shape[1])]

    def scores(self, b, h):
        """-inf where nothing is seen; what is not seen may be NaN."""
        k = np.where(self.seen[b, h].any(axis=0)[:, None], self.head(self.k, b, h), 0.0)
        return np.where(self.seen[b, h], self.q[b, h] @ k.T * self.scale + self.added[b, h], -np.inf)

    def values(self, b, h):
        return np.where(self.seen[b, h].any(axis=0)[:, None], self.head(self.v, b, h), 0.0)

    def heads(self):
        return ((b, h) for b in range(self.shape[0]) for h in range(self.shape[1]))


def attention(node, inputs, outputs, strides):
    p = Problem(node, inputs, outputs)
    batches, heads, rows, _ = p.shape
    o = np.zeros([batches, heads, rows, p.v.shape[3]])
    maximum = np.full([batches, heads, rows, 1], -np.inf)
    total = np.zeros([batches, heads, rows, 1])
    for b, h in p.heads():
        score = p.scores(b, h)
        top = np.maximum(score.max(axis=1, initial=-np.inf), p.sink[h])[:, None]
        maximum[b, h] = top
        shifted = np.where(top == -np.inf, -np.inf, score - np.where(top == -np.inf, 0, top))
        weight = np.exp(shifted)
        total[b, h] = weight.sum(axis=1, keepdims=True) + np.where(
            top == -np.inf, 0, np.exp(p.sink[h] - np.where(top == -np.inf, 0, top)))
        weight = weight / np.where(total[b, h] == 0, 1, total[b, h]) * p.mask[b, h] * p.factor
        o[b, h] = weight @ p.values(b, h)
    return {"O": o, "Stats": maximum + np.log(total), "Max": maximum, "Sum_exp": total,
            "RNG_DUMP": p.mask}


def attention_gradient(node, inputs, outputs, strides):
    p = Problem(node, inputs, outputs)
    d_q, d_k, d_v = (np.zeros(x.shape) for x in (p.q, p.k, p.v))
    d_score = np.zeros(p.shape)
    d_sink = np.zeros(p.shape[1])
    for b, h in p.heads():
        stats, d_o = inputs["Stats"][b, h], inputs["dO"][b, h]
        lives = stats != -np.inf
        weight = np.where(lives, np.exp(p.scores(b, h) - np.where(lives, stats, 0)), 0)
        kept = p.mask[b, h] * p.factor
        dot = (d_o * inputs["O"][b, h]).sum(axis=1, keepdims=True)
        d_score[b, h] = ds = weight * ((d_o @ p.values(b, h).T) * kept - dot)
        p.head(d_v, b, h)[...] += (weight * kept).T @ d_o
        d_q[b, h] = p.scale * ds @ np.where(p.seen[b, h].any(axis=0)[:, None], p.head(p.k, b, h), 0)
        p.head(d_k, b, h)[...] += p.scale * ds.T @ p.q[b, h]
        d_sink[h] -= (dot * np.where(lives, np.exp(p.sink[h] - np.where(lives, stats, 0)), 0)).sum()
    results = {"dQ": d_q, "dK": d_k, "dV": d_v, "RNG_DUMP": p.mask,
               "DSINK_TOKEN": d_sink.reshape(1, -1, 1, 1)}
    if "Bias" in inputs:
        bias = inputs["Bias"]
        whole = [1] * (4 - bias.ndim) + list(bias.shape)
        axes = tuple(axis for axis in range(4) if whole[axis] == 1)
        results["dBias"] = d_score.sum(axis=axes, keepdims=True).reshape(bias.shape)
    return results
