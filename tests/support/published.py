"""A published run made up by hand, whose names can be anything."""

from __future__ import annotations

from datetime import datetime

from advisor.reports.record.kernel_records import Gain
from advisor.reports.record.published import (
    Published,
    PublishedAction,
    PublishedFinding,
    PublishedKernel,
    PublishedMove,
    RuleText,
    SourcePlace,
)

SLOW, FAST, NEW = "slow_kernel", "fast_kernel", "new_kernel"


def published_kernel(name: str, number: int = 1, duration: float | None = 1e-3) -> PublishedKernel:
    """Return a kernel at half of its roof that nothing happened to."""
    half = None if duration is None else duration / 2
    return PublishedKernel(
        variant_id=f"v{number:011}",
        series_id=f"{number:012}",
        device="Example GPU",
        configuration="default",
        kernel=name,
        short_name=name,
        name=f"void {name}(float*)",
        launch_shape="(8, 1, 1)x(256, 1, 1)",
        launches=2,
        duration=duration,
        t_sol=half,
        wasted_time=half,
        roof_fraction=None if half is None else 0.5,
        limiter="memory",
        verdict="unchanged",
        relative=None,
    )


def published_finding(
    name: str,
    rule_id: str = "memory/uncoalesced-loads",
    severity: str = "warning",
    place: SourcePlace | None = None,
    suppressed: str | None = None,
) -> PublishedFinding:
    """Return a finding of one series, whose evidence names the kernel."""
    return PublishedFinding(
        rule_id=rule_id,
        fingerprint=f"{abs(hash((name, rule_id))):024x}"[:12],
        series_id="000000000001",
        kernels=(name,),
        title="Coalesce the global loads",
        severity=severity,
        evidence=f"Loads of {name} use 12 % of the bytes.",
        step="Let consecutive threads read consecutive addresses.",
        gain=Gain(low=1e-4, likely=2e-4, high=3e-4),
        place=place or SourcePlace(path="advisor.yaml"),
        suppressed=suppressed,
    )


def published_move(
    name: str, verdict: str = "regressed", severity: str = "error", accepted: str | None = None
) -> PublishedMove:
    """Return a series that takes half as long again."""
    return PublishedMove(
        rule_id=f"history/{verdict}",
        fingerprint=f"{abs(hash((name, verdict))):024x}"[:12],
        series_id="000000000001",
        kernel=name,
        verdict=verdict,
        state="new" if accepted is None else "accepted",
        severity=severity,
        run_id="0123456789ab",
        time=datetime.fromisoformat("2026-01-17T02:30:00"),
        commit="7ead6a9",
        note=name,
        base=1e-3,
        head=1.5e-3,
        relative=0.5,
        p_value=1e-9,
        lost=1e-3,
        cause=f"{name} moves more bytes.",
        around=(),
        sentence=f"50 % slower since 17 Jan: 1.00 ms → 1.50 ms. {name} moves more bytes.",
        place=SourcePlace(path="advisor.yaml"),
        command="advisor compare 0123 4567",
        accepted=accepted,
    )


def published(
    *,
    name: str = SLOW,
    kernels: tuple[PublishedKernel, ...] | None = None,
    findings: tuple[PublishedFinding, ...] | None = None,
    moved: tuple[PublishedMove, ...] | None = None,
) -> Published:
    """Return a run with one kernel that moved and has a finding; ``name`` is everywhere."""
    return Published(
        run_id="0123456789ab",
        title=name,
        device="Example GPU",
        configuration="default",
        simulated=True,
        sentence=f"This run is memory-bound. {name} takes most of it.",
        paragraph="",
        moved_sentence=f"New tonight: {name}, 50 % slower.",
        duration=1e-3,
        kernels=(published_kernel(name),) if kernels is None else kernels,
        actions=(
            PublishedAction(
                title="Coalesce the global loads",
                kernels=(name,),
                gain=Gain(low=1e-4, likely=2e-4, high=3e-4),
                step=f"Let the threads of {name} read consecutive addresses.",
            ),
        ),
        findings=(published_finding(name),) if findings is None else findings,
        moved=(published_move(name),) if moved is None else moved,
        rules={
            "memory/uncoalesced-loads": RuleText(
                rule_id="memory/uncoalesced-loads",
                title="Coalesce the global loads",
                severity="warning",
                why="Hardware fetches whole sectors.",
                caveats=("A gather needs sorting first.",),
                references=("NVIDIA, CUDA C++ Best Practices Guide",),
            )
        },
        report_command="advisor report 0123456789ab --html",
    )
