#!/usr/bin/env python3
"""Writes docs/ops: one page for each operation, and the list of them.

What a page says is said elsewhere: formula and shapes in the doc comment of the attributes class,
calls and setters in the headers, ports and fields in the tables that the class declares, the data
types by validate(), the example in examples/ops. With --check nothing is written, and the exit
status is 1 where a page is not what it would be.
"""

import argparse
import difflib
import json
import pathlib
import re
import struct
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include/warploom/ops"
PAGES = ROOT / "docs/ops"
# The section of docs/semantics.md for what a header declares.
SECTIONS = {"attention": "attention", "attention_backward": "attentions-gradient", "batchnorm": "normalizations",
            "block_scale": "block-scaling",
            "convolution": "convolution", "matmul": "matmul", "norm": "normalizations",
            "movement": "reshape-transpose-slice-concatenate", "pointwise": "pointwise",
            "reduction": "reduction", "resample": "pooling", "rng": "random-numbers", "softmax": "softmax"}
# Operations that one method chooses by its arguments: their attributes, and what the method returns.
OVERLOADS = {"SDPA_fp8_forward": ("SDPA_fp8_attributes", "<TensorPtr, 4>"),
             "SDPA_mxfp8_forward": ("SDPA_fp8_attributes", "<TensorPtr, 3>")}
CLASS = re.compile(r"((?:^///[^\n]*\n)*)(?:^template <class Derived>\n)?^class (\w+)(?:\s*:([^{;]*))?\s*\{(.*?)^\};",
                   re.M | re.S)
SETTER = re.compile(r"((?:^  ///[^\n]*\n)*)(?:^  template <[^\n]*\n)?^  (?:Derived|\w+_attributes)& "
                    r"((?:set_|has_)\w+\([^{]*?\))\s*\{", re.M)
METHOD = re.compile(r"((?:^  ///[^\n]*\n)*)^  ([\w:<>, ]+? \w+\([^;{}]*?(\w+_attributes) attributes\));", re.M)


class Class:
    """An attributes class or one of its bases, as a header has it."""

    def __init__(self, header, comment, name, bases, body):
        self.header, self.name, self.body = header, name, body
        self.comment = prose(comment)
        self.bases = re.findall(r"public (\w+)", bases or "")


def prose(comment):
    return " ".join(line.strip().removeprefix("///").strip() for line in comment.splitlines())


def one_line(code):
    return re.sub(r"\s+", " ", code).replace("( ", "(")


def read_classes():
    classes = {}
    for header in sorted(HEADERS.glob("*.h")):
        for match in CLASS.finditer(header.read_text()):
            classes[match[2]] = Class(header.stem, match[1], match[2], match[3], match[4])
    return classes


def class_of(tag, classes):
    return next(c for c in classes.values() if re.search(rf'kTag = "{tag}"', c.body))


def setters(which, classes):
    found = [(prose(comment), one_line(signature)) for comment, signature in SETTER.findall(which.body)]
    for base in which.bases:
        if base != "Attributes":
            found += setters(classes[base], classes)
    return found


def methods(which):
    text = (ROOT / "include/warploom/graph.h").read_text()
    attributes, result = OVERLOADS.get(which.name, (which.name, ""))
    return [(prose(comment), one_line(signature)) for comment, signature, name in METHOD.findall(text)
            if name == attributes and result in signature]


def code_block(lines):
    """Declarations, each below its comment."""
    text = []
    for comment, signature in lines:
        text += textwrap.wrap(comment, 96, initial_indent="// ", subsequent_indent="// ")
        text += textwrap.wrap(signature + ";", 99, subsequent_indent="    ", break_long_words=False)
    return "```cpp\n" + "\n".join(text) + "\n```\n"


def types_text(types, all_types):
    missing = [t for t in all_types if t not in types]
    if len(missing) <= 2:
        return "any but " + " and ".join(missing) if missing else "any"
    return ", ".join(types)


def port_types(port, operation, all_types):
    """As validate() accepts them for this tensor alone; or, where it must be of the others' type, for all."""
    types, common = port.get("data_types"), operation["common_data_types"]
    if types is None:
        return "not in the example"
    if len(types) == 1 and len(common) > 1:
        return types_text(common, all_types) + ", one for all"
    return types_text(types, all_types)


def default_text(field):
    if field["is_required"] and field["default"] in (None, []):
        return "must be set"
    value = field["default"]
    if value is None or value == []:
        return "not set"
    if field["type"] == "number" and isinstance(value, str):  # the bits of a float
        return str(struct.unpack(">f", bytes.fromhex(value))[0])
    return json.dumps(value).strip('"')


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def example(tag):
    path = ROOT / f"examples/ops/{tag.lower()}.cpp"
    match = re.search(r"\n((?://[^\n]*\n)+)EXAMPLE\(\w+\) \{\n(.*?)^\}", path.read_text(), re.M | re.S)
    about = " ".join(line.removeprefix("//").strip() for line in match[1].splitlines())
    return about, textwrap.dedent(match[2])


def wrap(text):
    return textwrap.fill(text.replace("*", "\\*"), 120, break_long_words=False, break_on_hyphens=False) + "\n"


def page(operation, classes, all_types):
    tag = operation["tag"]
    which = class_of(tag, classes)
    about, body = example(tag)
    ports = [[kind, port["name"], "optional" if port["is_optional"] else "",
              port_types(port, operation, all_types)]
             for kind in ("input", "output") for port in operation[kind + "s"]]
    if tag == "CONCATENATE":  # X0 to X63
        inputs = [row for row in ports if row[0] == "input"]
        last = inputs[-1]
        ports = [inputs[0], [last[0], f"X1 to {last[1]}", last[2], inputs[1][3]], *ports[len(inputs):]]
    fields = [[field["name"], field["type"], default_text(field)] for field in operation["fields"]]
    called = methods(which)
    text = f"# {tag}\n\n" + code_block([("", signature) for _, signature in called]) + "\n"
    text += "".join(wrap(comment) + "\n" for comment in dict.fromkeys(c for c, _ in called) if comment)
    text += wrap(which.comment) + "\n"
    text += (f"`graph::{which.name}` is declared in [{which.header}.h](../../include/warploom/ops/{which.header}.h); "
             f"[semantics](../semantics.md#{SECTIONS[which.header]}) has rounding, NaN and edges.\n\n")
    text += "## Tensors\n\n" + table(["", "port", "", "data types"], ports)
    text += f"\nComputed in: {', '.join(operation['compute_data_types'])}.\n\n"
    text += "## Options\n\n"
    if fields:
        text += table(["field in JSON", "type", "default"], fields) + "\n"
    found = setters(which, classes)
    text += code_block(found) + "\n" if found else "None.\n\n"
    text += f"## Example\n\n{about}\n\n```cpp\n{body}```\n"
    return text


def names(which):
    """Of the methods that take such attributes, each once."""
    return dict.fromkeys(re.search(r"(\w+)\(", signature)[1] for _, signature in methods(which))


INDEX = """# Operations

One page each, by the name in graph JSON, written by `scripts/write_op_pages.py`. To change one, change the
doc comment, the header or the example that it shows, then `make docs`. The examples are one program,
`example_ops`, which the tests run.

"""


def index(operations, classes):
    rows = [[f"[{o['tag']}]({o['tag'].lower()}.md)",
             ", ".join(f"`{name}`" for name in names(class_of(o["tag"], classes)))] for o in operations]
    return (INDEX + table(["operation", "method of Graph"], rows)
            + "\nThe modes of POINTWISE have a [table of their own](pointwise_modes.md).\n")


def pages(arguments):
    graphs = json.loads(subprocess.run([arguments.examples, "--graphs"], check=True, capture_output=True).stdout)
    known = json.dumps({name.upper(): graph for name, graph in graphs.items()})
    operations = json.loads(subprocess.run([arguments.describe], check=True, capture_output=True, text=True,
                                           input=known).stdout)
    missing = [o["tag"] for o in operations if o["tag"].lower() not in graphs or "compute_data_types" not in o]
    if missing:
        sys.exit(f"no example, or one whose graph is not valid: examples/ops/*.cpp of {', '.join(missing)}")
    classes = read_classes()
    pointwise = next(o for o in operations if o["tag"] == "POINTWISE")
    all_types = pointwise["inputs"][0]["data_types"]
    result = {f"{o['tag'].lower()}.md": page(o, classes, all_types) for o in operations}
    result["README.md"] = index(operations, classes)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", required=True, help="the program example_ops")
    parser.add_argument("--describe", required=True, help="the program describe_operations")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    is_same = True
    for name, text in pages(arguments).items():
        path = PAGES / name
        found = path.read_text() if path.exists() else ""
        if found == text:
            continue
        is_same = False
        if arguments.check:
            sys.stdout.writelines(difflib.unified_diff(found.splitlines(True), text.splitlines(True),
                                                       f"docs/ops/{name}", "as it would be written"))
        else:
            path.write_text(text)
    if arguments.check and not is_same:
        sys.exit("docs/ops is not up to date: make docs")


if __name__ == "__main__":
    main()
