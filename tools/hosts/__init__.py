"""Run the service on several hosts, which are network namespaces of this machine, and injure whole hosts."""
