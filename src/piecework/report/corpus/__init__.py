"""What a caption corpus holds, as a page beside the figures of VizWiz-Captions."""
