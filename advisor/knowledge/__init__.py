"""What is known before a profile is read: vocabulary, rules and devices, loaded once and cached."""
