"""People of any panel that sends them by a link and pays them from a list.

A panel file states how links are read and verified, where people go afterwards and in
which columns the panel wants its list. This room gives the marketplace access to these
people (`marketplace.outside_crowd`) and calls no panel.
"""
