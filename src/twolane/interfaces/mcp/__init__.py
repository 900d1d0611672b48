"""The library for agents: few tools, small answers, exact passages."""
