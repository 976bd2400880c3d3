"""Studies and tables as files: exports, imports and their inspection, copies, spreadsheets."""
