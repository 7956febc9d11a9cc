"""Rules as SQL over all kernels at once: outcomes, gains, ranks, explanations."""
