"""Preview pictures of pages, for sites and programs that show a picture beside a link."""
