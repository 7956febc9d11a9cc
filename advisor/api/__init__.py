"""The verbs: each command of the command line is one function here."""
