"""The command line that the site hands out as one file. Neither imports the other."""
