"""Boxes, masks, volumes and composites, each shared by several special metrics."""
