"""Count how much there is to read and to run, by ring and room."""
