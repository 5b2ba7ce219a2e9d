"""Results as HTML, JSON, Markdown, JUnit properties, comparisons and exports."""
