"""A program as code for C: one relocatable object with everything in it, and its header."""
