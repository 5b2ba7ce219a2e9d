"""From a run to what people read of it: HTML, JSON, Markdown, and other tools' formats."""
