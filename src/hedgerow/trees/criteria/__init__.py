"""What makes a split good. A criterion owns its bounds, its order of scores, its leaves and its cost."""
