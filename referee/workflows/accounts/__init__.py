"""Create, oversee and recover accounts, and invite them to run things together."""
