"""Compares the reference engine with NumPy on every point of every conformance case."""

import json
import pathlib

import numpy as np
import pytest

from graph_evaluator import evaluate

CASES = sorted((pathlib.Path(__file__).parent.parent / "conformance").glob("*/*.json"))

# Relative, and absolute per unit of the tensor's greatest magnitude: what one rounding on the other
# side of a tie makes, and for float results what carrying values as float may.
TOLERANCE = {"DOUBLE": (1e-12, 1e-13), "FLOAT": (1e-5, 2e-6), "HALF": (1.1e-3, 1e-4),
             "BFLOAT16": (8e-3, 1e-3)}


def mismatch(got, expected, data_type):
    """The first difference in words, or None."""
    if got.shape != expected.shape:
        return f"shape {got.shape}, expected {expected.shape}"
    relative, absolute = TOLERANCE.get(data_type, (0, 0))
    finite = np.abs(expected[np.isfinite(expected)])
    absolute *= finite.max(initial=0)
    with np.errstate(invalid="ignore"):
        close = np.abs(got - expected) <= absolute + relative * np.abs(expected)
    same = (got == expected) | (np.isnan(got) & np.isnan(expected)) | (np.isfinite(expected) & close)
    if same.all():
        return None
    where = tuple(int(i) for i in np.argwhere(~same)[0])
    return (f"element {where} is {got[where]}, NumPy has {expected[where]} "
            f"({(~same).sum()} of {same.size} differ)")


def read(folder, name):
    """Graph, tensors with their values, and the error of one point."""
    record = json.loads((folder / f"{name}.json").read_text())
    values = np.fromfile(folder / f"{name}.f64")
    offset = 0
    for tensor in record["tensors"] if not record["error"] else []:
        count = int(np.prod(tensor["dim"]))
        tensor["values"] = values[offset:offset + count].reshape(tensor["dim"])
        offset += count
    return record


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize("case", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_reference_agrees_with_numpy(case, records):
    prefix = f"{case.parent.name}_{case.stem}_"
    names = [path.stem for path in records.glob(f"{prefix}*.json")
             if path.stem.removeprefix(prefix).isdigit()]
    assert names, "write_cases wrote no point of this case"
    failures = []
    for name in sorted(names, key=lambda text: int(text.removeprefix(prefix))):
        record = read(records, name)
        if record["error"]:
            failures.append(f"{name} ({record['bindings']}): {record['error']}")
            continue
        with np.errstate(all="ignore"):
            expected = evaluate(record["graph"], record["tensors"])
        for tensor in record["tensors"]:
            if tensor["is_output"]:
                text = mismatch(tensor["values"], expected[tensor["uid"]], tensor["data_type"])
                if text:
                    failures.append(f"{name} ({record['bindings']}): {tensor['name']}: {text}")
    assert not failures, f"{len(failures)} of {len(names)} points:\n" + "\n".join(failures[:8])
