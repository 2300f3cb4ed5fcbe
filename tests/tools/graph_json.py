"""Writes graph JSON, independently of the library: names as keys, row-major unless told."""

import json
import struct


def row_major(dims):
    strides, step = [], 1
    for dim in reversed(dims):
        strides.insert(0, step)
        step *= max(dim, 1)
    return strides


def channels_last(dims):
    """Strides with dimension 1 fastest, then the last ones, as images lie in memory."""
    order = [1, *range(len(dims) - 1, 1, -1), 0]
    strides, step = [0] * len(dims), 1
    for axis in order:
        strides[axis] = step
        step *= dims[axis]
    return strides


def float_bits(value):
    return struct.pack(">f", value).hex().upper()


class GraphJson:
    def __init__(self, path, io="FLOAT", compute="FLOAT"):
        self.path = path
        self.description = {
            "json_version": "1.0",
            "context": {"name": "test", "io_data_type": io, "intermediate_data_type": "FLOAT",
                        "compute_data_type": compute},
            "nodes": [],
            "tensors": {},
        }

    def tensor(self, name, dims, strides=None, data_type=None, uid=None, **more):
        entry = {"name": name, "dim": list(dims), "stride": strides or row_major(dims),
                 "data_type": data_type, **more}
        if uid is not None:
            entry.update(uid=uid, uid_assigned=True)
        self.description["tensors"][name] = entry
        return name

    def scalar(self, name, value):
        """A FLOAT that is stored with the graph."""
        return self.tensor(name, [1], data_type="FLOAT", is_pass_by_value=True,
                           pass_by_value={"index": 3, "value": float_bits(value)})

    def node(self, tag, inputs, outputs, **fields):
        """`outputs`: port to name; a name that is no tensor yet becomes a virtual one."""
        for name in outputs.values():
            self.description["tensors"].setdefault(name, {"name": name, "is_virtual": True})
        self.description["nodes"].append({"tag": tag, "name": f"node{len(self.description['nodes'])}",
                                          "inputs": inputs, "outputs": outputs, **fields})

    def pointwise(self, mode, inputs, output, **fields):
        ports = {f"IN_{i}": name for i, name in enumerate(inputs)}
        self.node("POINTWISE", ports, {"OUT_0": output}, mode=mode, **fields)

    def output(self, name, **fields):
        """Gives the result `name` memory of its own; dims are inferred unless given."""
        entry = self.description["tensors"].setdefault(name, {"name": name})
        entry.update(is_virtual=False, **fields)
        return name

    def write(self):
        self.path.write_text(json.dumps(self.description))
        return self.path
