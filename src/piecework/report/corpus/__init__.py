"""What a caption corpus contains, as a page beside the figures of VizWiz-Captions."""
