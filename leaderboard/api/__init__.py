"""JSON for programs, under `/api/v1/`: a bearer token in, allow-listed fields out."""
