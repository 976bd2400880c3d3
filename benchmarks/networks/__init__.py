"""Learning which sites of two networks of the literature are worth their price."""
