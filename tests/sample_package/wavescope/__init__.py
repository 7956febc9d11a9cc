"""A made-up profiler of AMD devices, as a package of its own teaches it to advisor."""
