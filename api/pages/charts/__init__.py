"""Draw charts as SVG in pages."""
