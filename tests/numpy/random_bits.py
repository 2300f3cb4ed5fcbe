"""Philox4x32-10 on arrays of counters, in 64-bit integers."""

import numpy as np

MASK = np.uint64(0xFFFFFFFF)


def philox(counter, key):
    c = [np.asarray(word, dtype=np.uint64) for word in counter]
    k = [key[0] & 0xFFFFFFFF, key[1] & 0xFFFFFFFF]
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        high = np.uint64(32)
        c = [(second >> high) ^ c[1] ^ np.uint64(k[0]), second & MASK,
             (first >> high) ^ c[3] ^ np.uint64(k[1]), first & MASK]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def random_words(seed, offset, count):
    """One word for each of the elements 0 to count - 1."""
    seed, offset = int(seed) % 2 ** 64, int(offset) % 2 ** 64
    block = np.arange((count + 3) // 4, dtype=np.uint64)
    same = np.ones_like(block)
    words = philox((block & MASK, block >> np.uint64(32), same * np.uint64(offset % 2 ** 32),
                    same * np.uint64(offset >> 32)), (seed % 2 ** 32, seed >> 32))
    return np.stack(words, axis=1).reshape(-1)[:count]


def rng(node, inputs, outputs, strides):
    dim = node.get("dim") or outputs["Y"]["dim"]
    seed = node["seed"] if node.get("seed") is not None else inputs["Seed"].reshape(-1)[0]
    offset = inputs["Offset"].reshape(-1)[0] if "Offset" in inputs else 0
    words = random_words(seed, offset, int(np.prod(dim)))
    return {"Y": (words.astype(np.float64) < node["bernoulli_probability"] * 2.0 ** 32).reshape(dim)}
