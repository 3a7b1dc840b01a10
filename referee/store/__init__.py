"""The record: everything that must outlive a process. One file an aggregate; functions take a ``Session`` first."""
