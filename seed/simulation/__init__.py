"""The making of the example runs: a little model of a machine and the reports it would write."""
