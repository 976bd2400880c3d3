"""Public tables with test costs: what plans made from training rows cost on test rows, beside other methods."""
