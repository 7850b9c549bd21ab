"""Boxes, masks, volumes and composites: what several special metrics share."""
