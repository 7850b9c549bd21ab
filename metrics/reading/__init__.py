"""Bytes → a table of text columns → checked arrays in the order of the truth, or every problem of the file."""
