"""Thin command lines: parse arguments, call the API, print."""
