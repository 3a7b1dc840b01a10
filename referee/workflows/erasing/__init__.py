"""Export and delete what is stored about accounts and bots."""
