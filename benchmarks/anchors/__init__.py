"""Published numbers of others, beside ours on the same data: Syn1 to Syn3, CUBE, Spambase, heart disease."""
