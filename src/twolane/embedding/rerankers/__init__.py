"""Rerankers: adapters that read passages together with a query."""
