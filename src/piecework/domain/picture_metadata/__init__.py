"""What files of pictures say beside the picture: where, when and by whom it was taken.

Each format is cut by its own module, so that the pixels stay as they are.
"""
