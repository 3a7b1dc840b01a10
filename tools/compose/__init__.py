"""Run docker-compose.yml in a container engine, as operators do, and check each step."""
