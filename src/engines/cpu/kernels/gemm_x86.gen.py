"""Writes the x86-64 micro-kernels as assembly: python3 gemm_x86.gen.py OUT.S

Assembly, because compilers turn the same C++ loop into anything between 30 and 95 percent of the
processor's peak. Every kernel has the C signature void(const GemmTile*) of kernel_table.h:

  for t < batch: for step < k_steps: for row < m: C[row] += A[row, step] * B[step]

One step is 4 bytes of A: a float, a pair of bfloat16 or a pair of int16. The accumulators of a
tile live in registers, and each is one chain over K, so that no result depends on m.

Wide kernels take all columns of a panel of B. Narrow ones take the first half, and up to twice the
rows: fewer than eight chains would leave the multipliers waiting for each other. The narrowest ones
of AVX-512 take a quarter, in half registers.
"""

import sys
from dataclasses import dataclass

# Offsets of GemmTile's members; kernel_table.cpp asserts them.
(A, A_ROW_STRIDE, A_BATCH_STRIDE, B, B_BATCH_STRIDE, C, C_ROW_STRIDE, K_STEPS, BATCH, ACCUMULATE,
 BIAS) = range(0, 88, 8)
LOWER, UPPER = 88, 92

UNROLL = 4
ROWS_PER_BASE = 5


@dataclass
class Level:
    name: str
    panel_bytes: int  # of B, a step
    clear: str
    shapes: dict  # name: (registers, their bytes, registers of B a step, most rows)
    formats: tuple


AVX2_SHAPES = {"": ("ymm", 32, 2, 6), "_narrow": ("ymm", 32, 1, 12)}
AVX512_SHAPES = {"": ("zmm", 64, 2, 14), "_narrow": ("zmm", 64, 1, 14),
                 "_narrowest": ("ymm", 32, 1, 14)}
LEVELS = [
    Level("avx2", 64, "vxorps", AVX2_SHAPES, ("float", "int16")),
    Level("avx512", 128, "vpxord", AVX512_SHAPES, ("float", "int16")),
    Level("avx512bf16", 128, "vpxord", AVX512_SHAPES, ("bfloat16",)),
]


class Kernel:
    """rsi, r8: row strides of A and C; rdi, rax, r10: rows 0, 5 and 10 of A; r11: 3 rsi; rdx: B;
    rcx: C; r9: steps left; rbx: batches left; rbp, r12: A and B of the batch; r13: the tile."""

    def __init__(self, level, fmt, shape, m):
        self.level, self.fmt, self.m = level, fmt, m
        self.register, self.bytes, self.vectors, self.most_rows = level.shapes[shape]
        self.name = f"{table_name(level, fmt, shape)}_m{m}"
        self.bases = ["%rdi", "%rax", "%r10"][: (m + ROWS_PER_BASE - 1) // ROWS_PER_BASE]
        self.lines = []

    def c(self, row, i):
        return f"%{self.register}{self.vectors * row + i}"

    def b(self, i):
        return f"%{self.register}{self.vectors * self.most_rows + i}"

    def a(self, row):  # two in turn: the next broadcast does not wait for the last product
        return f"%{self.register}{self.vectors * (self.most_rows + 1) + row % 2}"

    def emit(self, *lines):
        self.lines.extend("    " + line for line in lines)

    def label(self, name):
        self.lines.append(f".L{self.name}_{name}:")

    def jump(self, condition, name):
        self.emit(f"j{condition} .L{self.name}_{name}")

    def a_address(self, row, displacement):
        base = self.bases[row // ROWS_PER_BASE]
        index = ["", ",%rsi", ",%rsi,2", ",%r11", ",%rsi,4"][row % ROWS_PER_BASE]
        return f"{displacement or ''}({base}{index})"

    def step(self, unroll):
        for i in range(self.vectors):
            offset = unroll * self.level.panel_bytes + i * self.bytes
            self.emit(f"vmovups {offset}(%rdx),{self.b(i)}")
        for row in range(self.m):
            load = "vbroadcastss" if self.fmt == "float" else "vpbroadcastd"
            self.emit(f"{load} {self.a_address(row, 4 * unroll)},{self.a(row)}")
            for i in range(self.vectors):
                self.multiply_add(row, i)

    def multiply_add(self, row, i):
        a, b, c = self.a(row), self.b(i), self.c(row, i)
        if self.fmt == "float":
            self.emit(f"vfmadd231ps {a},{b},{c}")
        elif self.fmt == "bfloat16":
            self.emit(f"vdpbf16ps {a},{b},{c}")
        elif i == self.vectors - 1:  # the last product may overwrite the broadcast
            self.emit(f"vpmaddwd {a},{b},{a}", f"vpaddd {a},{c},{c}")
        else:
            temporary = self.a(row + 1)
            self.emit(f"vpmaddwd {a},{b},{temporary}", f"vpaddd {temporary},{c},{c}")

    def advance(self, steps):
        for base in self.bases:
            self.emit(f"add ${4 * steps},{base}")
        self.emit(f"add ${steps * self.level.panel_bytes},%rdx")

    def for_each_c(self, move):
        for row in range(self.m):
            for i in range(self.vectors):
                self.emit(move(f"{i * self.bytes or ''}(%rcx)", self.c(row, i)))
            if row < self.m - 1:
                self.emit("add %r8,%rcx")

    def finish(self):
        """C = min(max(C + bias, lower), upper); a NaN in C stays, as the second source."""
        lower, upper = self.a(0), self.a(1)
        self.emit(f"mov {BIAS}(%r13),%rax", "test %rax,%rax")
        self.jump("z", "store")
        for i in range(self.vectors):
            self.emit(f"vmovups {i * self.bytes or ''}(%rax),{self.b(i)}")
        self.emit(f"vbroadcastss {LOWER}(%r13),{lower}", f"vbroadcastss {UPPER}(%r13),{upper}")
        for row in range(self.m):
            for i in range(self.vectors):
                c = self.c(row, i)
                self.emit(f"vaddps {self.b(i)},{c},{c}", f"vmaxps {c},{lower},{c}",
                          f"vminps {c},{upper},{c}")

    def text(self):
        self.emit("push %rbx", "push %rbp", "push %r12", "push %r13", "mov %rdi,%r13")
        for offset, register in [(A, "rbp"), (A_ROW_STRIDE, "rsi"), (B, "r12"), (C, "rcx"),
                                 (C_ROW_STRIDE, "r8"), (BATCH, "rbx")]:
            self.emit(f"mov {offset}(%r13),%{register}")
        self.emit("lea (%rsi,%rsi,2),%r11")
        self.emit(f"cmpq $0,{ACCUMULATE}(%r13)")
        self.jump("e", "clear")
        self.for_each_c(lambda memory, register: f"vmovups {memory},{register}")
        self.emit(f"mov {C}(%r13),%rcx")
        self.emit(f"jmp .L{self.name}_start")
        self.label("clear")
        for i in range(self.vectors * self.m):
            register = f"%{self.register}{i}"
            self.emit(f"{self.level.clear} {register},{register},{register}")
        self.label("start")
        self.emit("test %rbx,%rbx")
        self.jump("le", "summed")

        self.label("batch")
        self.emit("mov %rbp,%rdi", "mov %r12,%rdx", f"mov {K_STEPS}(%r13),%r9")
        if self.m > ROWS_PER_BASE:
            self.emit("lea (%rsi,%rsi,4),%rax")
            if self.m > 2 * ROWS_PER_BASE:
                self.emit("lea (%rdi,%rax,2),%r10")
            self.emit("add %rdi,%rax")
        self.emit(f"sub ${UNROLL},%r9")
        self.jump("l", "rest")
        self.emit(".p2align 5")
        self.label("unrolled")
        for unroll in range(UNROLL):
            self.step(unroll)
        self.advance(UNROLL)
        self.emit(f"sub ${UNROLL},%r9")
        self.jump("ge", "unrolled")
        self.label("rest")
        self.emit(f"add ${UNROLL},%r9")
        self.jump("le", "next")
        self.label("single")
        self.step(0)
        self.advance(1)
        self.emit("dec %r9")
        self.jump("nz", "single")
        self.label("next")
        self.emit(f"add {A_BATCH_STRIDE}(%r13),%rbp", f"add {B_BATCH_STRIDE}(%r13),%r12",
                  "dec %rbx")
        self.jump("nz", "batch")

        self.label("summed")
        if self.fmt != "int16":
            self.finish()
            self.label("store")
        self.for_each_c(lambda memory, register: f"vmovups {register},{memory}")
        self.emit("vzeroupper", "pop %r13", "pop %r12", "pop %rbp", "pop %rbx", "ret")
        head = [f".globl {self.name}", f".hidden {self.name}", f".type {self.name},@function",
                ".p2align 5", f"{self.name}:"]
        return head + self.lines + [f".size {self.name},.-{self.name}"]


def table_name(level, fmt, shape):
    return f"warploom_gemm_{level.name}_{fmt}{shape}"


def main(path):
    lines = [".text"]
    tables = ['.section .data.rel.ro,"aw"']
    for level in LEVELS:
        for fmt in level.formats:
            for shape, (_, _, _, most_rows) in level.shapes.items():
                name = table_name(level, fmt, shape)
                tables += [f".globl {name}", f".hidden {name}", ".p2align 3", f"{name}:",
                           "    .quad 0"]
                for m in range(1, most_rows + 1):
                    lines += Kernel(level, fmt, shape, m).text()
                    tables.append(f"    .quad {name}_m{m}")
    lines += tables + ['.section .note.GNU-stack,"",@progbits']
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
