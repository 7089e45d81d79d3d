"""What a caption corpus holds, measured: words, levels, agreement, metrics."""
