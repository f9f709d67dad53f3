"""From a location to lines: sources give byte streams, the scanner finds the lines that hold a marker, in one pass."""
