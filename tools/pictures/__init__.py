"""Draw the pictures in ``api/static/site`` that do not depend on data."""
