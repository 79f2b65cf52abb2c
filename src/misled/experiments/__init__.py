"""Socket: one page each, from the prompt to the row, top to bottom."""
