"""Speed and learning, side by side with what one would use instead; each folder is run as a module."""
