"""Boxes, masks, volumes and composites: numerics of special metrics."""
