"""What the project is born with: devices, ceilings, and example runs that it simulates itself."""
