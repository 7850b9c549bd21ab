"""Boxes, masks and composites, each shared by several special metrics."""
