"""``python library_ceilings.py``: the rate of the library's matrix products, a line of JSON each.

Median of 21 repeats by CUDA events of a product of 8,192 × 8,192 matrices of random numbers; fp32
is computed without tensor cores.
"""

import json

import torch

SIDE, REPEATS, WARM = 8192, 21, 3


def main():
    """Print the formats in turn; one that the library refuses is left out and said."""
    torch.manual_seed(0)
    a, b = (torch.rand(SIDE, SIDE, device="cuda") * 2 - 1 for _ in range(2))
    small = [(x * 100).to(torch.int8) for x in (a, b.T.contiguous())]
    one = torch.ones((), device="cuda")
    eight = [x.to(torch.float8_e4m3fn) for x in (a, b.T.contiguous())]
    halves, brains = (a.half(), b.half()), (a.bfloat16(), b.bfloat16())
    doubles = a[:, :4096].double().contiguous(), b[:4096].double().contiguous()
    wanted = {
        "tensor_fp16": (lambda: halves[0] @ halves[1], SIDE),
        "tensor_bf16": (lambda: brains[0] @ brains[1], SIDE),
        "tensor_tf32": (lambda: a @ b, SIDE),
        "vector_fp32": (lambda: a @ b, SIDE),
        "tensor_fp64": (lambda: doubles[0] @ doubles[1], 4096),
        "tensor_int8": (lambda: torch._int_mm(small[0], small[1].T), SIDE),
        "tensor_fp8": (
            lambda: torch._scaled_mm(eight[0], eight[1].T, one, one, out_dtype=torch.bfloat16),
            SIDE,
        ),
    }
    for resource, (launch, depth) in wanted.items():
        torch.backends.cuda.matmul.allow_tf32 = resource == "tensor_tf32"
        try:
            times = milliseconds(launch)
        except RuntimeError as error:
            print(
                json.dumps({"resource": resource, "refused": str(error).splitlines()[0]}),
                flush=True,
            )
            continue
        work = 2 * SIDE * SIDE * depth * 1e3
        rate = {"value": times[REPEATS // 2], "slowest": times[-1], "fastest": times[0]}
        unit = "OP/s" if resource == "tensor_int8" else "FLOP/s"
        line = {
            "resource": resource,
            "what": f"matrix product, 8192 x 8192 x {depth}",
            "unit": unit,
        }
        print(
            json.dumps(line | {key: float(f"{work / time:.5g}") for key, time in rate.items()}),
            flush=True,
        )


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


if __name__ == "__main__":
    main()
