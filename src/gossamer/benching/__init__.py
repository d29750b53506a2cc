"""`gossamer bench`: how fast Gossamer is on this machine, beside a plain script, and by the size of pages."""
