"""``python triton_pairs.py time [PAIR …] | profile VERSION PAIR …``: pairs in PyTorch and Triton.

Prints what ``corpus`` prints: a line of JSON for each version, median and quartiles of 41 repeats
by CUDA events, after its result was checked against PyTorch in double.
"""

import json
import sys

import torch
import triton
import triton.language as tl

REPEATS, WARM = 41, 3


@triton.jit
def scale_bias_clamp(x, out, count, by, bias, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(out + at, tl.maximum(tl.load(x + at, mask=inside) * by + bias, 0.0), mask=inside)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * columns + at, powers / tl.sum(powers, 0), mask=at < columns)


@triton.jit
def matmul(a, b, c, side, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inner = tl.arange(0, DEPTH)
    left = a + rows[:, None] * side + inner[None, :]
    right = b + inner[:, None] * side + columns[None, :]
    sums = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for _ in range(0, side, DEPTH):
        sums = tl.dot(tl.load(left), tl.load(right), sums)
        left += DEPTH
        right += DEPTH * side
    tl.store(c + rows[:, None] * side + columns[None, :], sums.to(tl.float16))


def random(*shape, dtype=torch.float32):
    """Return numbers in [-1, 1)."""
    return (torch.rand(shape, device="cuda") * 2 - 1).to(dtype)


def close(got, want, tolerance):
    """Whether the whole result lies within the tolerance of what double arithmetic gives."""
    return bool(((got.double() - want).norm() / want.norm()) <= tolerance)


def elementwise():
    """Planted: three kernels of PyTorch for one expression."""
    x, out = random(1 << 26), torch.empty(1 << 26, device="cuda")

    def before():
        torch.mul(x, 1.5, out=out)
        out.add_(0.25)
        out.clamp_(min=0)

    def after():
        scale_bias_clamp[(x.numel() // 1024,)](x, out, x.numel(), 1.5, 0.25, BLOCK=1024)

    return {"before": before, "after": after}, lambda: close(
        out, (x.double() * 1.5 + 0.25).clamp(min=0), 1e-6
    )


def softmax_blocks():
    """Planted: 32 warps for a row of 1,024 numbers, one number per thread."""
    x = random(1 << 16, 1024)
    out = torch.empty_like(x)

    def run(warps):
        softmax[(x.shape[0],)](x, out, x.shape[1], BLOCK=1024, num_warps=warps)

    return (
        {"before": lambda: run(32), "after": lambda: run(4)},
        lambda: close(out[:4096], x[:4096].double().softmax(1), 1e-5),
    )


def product(before, after, side=4096):
    """Return versions of a matrix product, tiles and warps of each; None is the library's."""
    a, b = random(side, side, dtype=torch.float16), random(side, side, dtype=torch.float16)
    c = torch.empty_like(a)

    def run(rows, columns, depth, warps, stages):
        matmul[(side // rows, side // columns)](
            a,
            b,
            c,
            side,
            ROWS=rows,
            COLUMNS=columns,
            DEPTH=depth,
            num_warps=warps,
            num_stages=stages,
        )

    versions = {
        name: (lambda: torch.matmul(a, b, out=c))
        if tiles == "library"
        else (lambda tiles=tiles: run(*tiles))
        for name, tiles in (("before", before), ("after", after))
        if tiles
    }
    return versions, lambda: close(c[:512], a[:512].double() @ b.double(), 2e-3)


PAIRS = {
    "triton-elementwise": elementwise,
    "triton-softmax-warps": softmax_blocks,
    "triton-small-tiles": lambda: product((16, 16, 16, 1, 1), (128, 256, 64, 8, 3)),
    "product-by-warps": lambda: product(None, (128, 256, 64, 8, 3)),
    "product-library": lambda: product("library", None, side=8192),
}


def milliseconds(launch):
    """Return the sorted times of the repeats."""
    times = []
    for repeat in range(-WARM, REPEATS):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        launch()
        stop.record()
        stop.synchronize()
        if repeat >= 0:
            times.append(start.elapsed_time(stop))
    return sorted(times)


def time_pair(name):
    """Check and time every version of a pair."""
    versions, right = PAIRS[name]()
    for version, launch in versions.items():
        launch()
        held = right()
        times = milliseconds(launch)
        quartiles = [times[REPEATS // 4], times[3 * REPEATS // 4]]
        print(
            json.dumps(
                {
                    "pair": name,
                    "version": version,
                    "right": held,
                    "ms": round(times[REPEATS // 2], 6),
                    "quartiles": [round(time, 6) for time in quartiles],
                    "repeats": REPEATS,
                }
            ),
            flush=True,
        )


def profile_pair(name, version):
    """Run one version once inside the profiled range, after a run that compiled and checked it."""
    versions, right = PAIRS[name]()
    if version not in versions:
        return
    versions[version]()
    assert right(), name
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    versions[version]()
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()


def main(words):
    """Time the named pairs, all where none is named, or profile a version of them."""
    if words[:1] == ["time"]:
        for name in words[1:] or PAIRS:
            time_pair(name)
    elif words[:1] == ["profile"] and len(words) > 2:
        for name in words[2:]:
            profile_pair(name, words[1])
    else:
        sys.exit("triton_pairs.py time [PAIR …] | profile VERSION PAIR …")


if __name__ == "__main__":
    main(sys.argv[1:])
