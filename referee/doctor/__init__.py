"""Check a deployment and say what to mend."""
