"""Log sources, line wrappings, layout converters and reporters, each behind a hook of the autofuse host."""
