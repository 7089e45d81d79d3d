"""Metadata in files of pictures: where, when and by whom a picture was taken.

Each format has a module that removes it without a change of the pixels.
"""
