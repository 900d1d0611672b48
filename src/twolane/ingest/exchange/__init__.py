"""Documents from elsewhere and to elsewhere: each module reads or writes one format."""
