"""Parts of a site on servers and machines of their own: PostgreSQL, Redis, S3, workers elsewhere."""
