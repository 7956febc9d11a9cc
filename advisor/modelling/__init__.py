"""How fast could it be: operations and devices in, least times out; nothing is measured here."""
