"""Draw preview pictures of pages, for sites and programs that show a picture beside a link, and store them.

``referee.workflows.picture_contents`` reads what a picture shows, and a thread of the scheduler draws it
(``workers/picture_drawer.py``). Requests only read stored pictures.
"""
