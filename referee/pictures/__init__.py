"""Draw preview pictures of pages, for sites and programs that show a picture beside a link, and store them.

``workers/picture_contents.py`` reads what a picture shows, ``workers/early_pictures.py`` chooses those to draw before
anybody requests them, and a thread of the scheduler draws them (``workers/picture_drawer.py``). Requests only read
stored pictures.
"""
