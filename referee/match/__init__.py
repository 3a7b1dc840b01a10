"""Run one match without I/O: coordinate its seats, write its log, draw chance, limit time and replay it."""
