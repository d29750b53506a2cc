"""How fast Gossamer is, next to its peers and next to itself on bigger sites. Run by `make bench`."""
