"""Why a document is found or not, and which documents are similar."""
