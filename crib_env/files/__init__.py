"""Files that are written whole and read strictly."""
