"""Scaled dot-product attention in float64, one row of scores at a time."""

import numpy as np

from elements import from_float_bits


def scale_of(node, inputs):
    if "Attn_scale" in inputs:
        return float(inputs["Attn_scale"].reshape(-1)[0])
    value = node.get("attn_scale_value")
    if value is None:
        return 1.0
    return from_float_bits(value) if isinstance(value, str) else value


def allowed_keys(node, row, length_q, length_kv, keys):
    """Which of `keys` a row sees, under its batch's lengths."""
    j = np.arange(keys)
    shift = length_kv - length_q if node.get("diagonal_alignment") == "BOTTOM_RIGHT" else 0
    allowed = (j < length_kv) & (row < length_q)
    if node.get("right_bound") is not None:
        allowed &= j <= row + shift + node["right_bound"]
    if node.get("left_bound") is not None:
        allowed &= j > row + shift - node["left_bound"]
    return allowed


def attention(node, inputs, outputs, strides):
    q, k, v = inputs["Q"], inputs["K"], inputs["V"]
    batches, heads, rows, _ = q.shape
    keys = k.shape[2]
    o = np.zeros([batches, heads, rows, v.shape[3]])
    maximum = np.full([batches, heads, rows, 1], -np.inf)
    total = np.zeros([batches, heads, rows, 1])
    scale = scale_of(node, inputs)
    bias = np.broadcast_to(inputs.get("Bias", np.zeros([1] * 4)), [batches, heads, rows, keys])
    lengths_q = inputs["SEQ_LEN_Q"].reshape(-1) if node.get("padding_mask") else [rows] * batches
    lengths_kv = inputs["SEQ_LEN_KV"].reshape(-1) if node.get("padding_mask") else [keys] * batches
    for b in range(batches):
        for h in range(heads):
            head_k = k[b, h // (heads // k.shape[1])] if heads else None
            head_v = v[b, h // (heads // v.shape[1])]
            for i in range(rows):
                seen = allowed_keys(node, i, lengths_q[b], lengths_kv[b], keys)
                if not seen.any():
                    continue
                score = head_k[seen] @ q[b, h, i] * scale + bias[b, h, i][seen]
                maximum[b, h, i] = score.max()
                if maximum[b, h, i] == -np.inf:
                    continue
                weight = np.exp(score - maximum[b, h, i])
                total[b, h, i] = weight.sum()
                o[b, h, i] = weight @ head_v[seen] / total[b, h, i]
    return {"O": o, "Stats": maximum + np.log(total), "Max": maximum, "Sum_exp": total}
