"""What all pages share: templates, formatting, parameters, charts, static files; the guides. Areas have the views."""
