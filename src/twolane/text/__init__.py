"""Words: tokens, stems, languages, scripts, spelling, and Markdown as plain text."""
