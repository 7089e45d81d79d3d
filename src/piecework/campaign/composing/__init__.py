"""Write campaign files, from the questions and the items to the text of the file."""
