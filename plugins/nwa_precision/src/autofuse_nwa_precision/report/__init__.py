"""From the rows of a comparison to a Report: columns, leading lines, charts and figures."""
