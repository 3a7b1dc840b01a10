"""Create, queue, claim and record matches, with their deal groups, logs and results."""
