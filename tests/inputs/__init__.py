"""The list of inputs: every file and every upload that goes wrong, through all doors of the site."""
