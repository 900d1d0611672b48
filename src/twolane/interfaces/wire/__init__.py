"""The JSON that every interface speaks: each shape is defined here, once.

A shape is a `msgspec.Struct`. The command line prints it, the server sends it, and both describe
it by the JSON Schema that is made of it; what is sent in is read and checked by it.
Times are ISO 8601, paths relative to the root of their collection.
"""
