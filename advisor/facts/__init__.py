"""From counters to quantities to facts: load the YAML of both, compile it to SQL, make the views."""
