"""What the ACME accelerator adds to autofuse; `plugin` says what that is."""
