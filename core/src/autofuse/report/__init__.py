"""Reports: what a command computed, apart from how it is written (`model`), and the way to a reporter (`emit`)."""
