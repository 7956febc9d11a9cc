"""The verbs: each command of the command line is one function here.

``open_database``, ``ingest``, ``advise`` and ``report`` are the library's own front door and are
offered by the package ``advisor`` itself.
"""
