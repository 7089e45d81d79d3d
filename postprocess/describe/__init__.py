"""What a caption dataset holds: the analyses of VizWiz-Captions on any captions."""
