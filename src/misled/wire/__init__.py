"""Socket: provider dialects, pure JSON <-> records, no input or output."""
