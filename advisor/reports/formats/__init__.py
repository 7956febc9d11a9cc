"""The formats of other programs: each a function of what is published of a run."""
