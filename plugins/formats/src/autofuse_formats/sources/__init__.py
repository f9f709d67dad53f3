"""Log sources: from a location (file, folder, glob, archive, `-`) to named byte streams in time order."""
