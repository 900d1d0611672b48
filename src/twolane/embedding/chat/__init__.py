"""Chat models: the adapter that asks one, and the prompts that it is asked with."""
