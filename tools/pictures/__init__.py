"""Draw the pictures that do not depend on data: standard preview pictures, and the icons of the web app."""
